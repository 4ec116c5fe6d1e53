//! Finds, reads, merges and validates preferences; the confirmed policy (SPEC §13, §3).
