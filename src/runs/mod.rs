//! Wrapped runs: start, supervise, judge the outcome, retry, resume (SPEC §8).
