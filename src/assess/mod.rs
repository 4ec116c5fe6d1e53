//! Action to facts: what would be touched, lost, left; the evidence comes from `repo`.
