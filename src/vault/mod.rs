//! Safety points: capture, store, restore (SPEC §4).
