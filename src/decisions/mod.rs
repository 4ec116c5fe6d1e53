//! The ten decision payload types: validate, correct, queue (SPEC §11). Pure.
