//! Append-only, hash-chained logs (SPEC §6).
