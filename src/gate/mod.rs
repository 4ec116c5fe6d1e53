//! The pipeline of SPEC §1 in one place: judge, protect, record, answer.
