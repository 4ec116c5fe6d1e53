//! Pending confirmations, and the proof that a person is there (SPEC §5).
