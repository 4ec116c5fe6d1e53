//! Shell text to what would run, and what each program would do (SPEC §7). Pure.
