//! Loops and side-by-side runs: their states on disk and their processes (SPEC §9, §10).
