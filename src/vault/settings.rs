//! How safety points are taken and kept: the `safety.*` preferences and their defaults.

use std::path::PathBuf;

/// The `safety.*` preferences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `safety.store`: where the vault lies, instead of Holdpoint's own directory for the repository.
    pub store: Option<PathBuf>,
    /// `safety.max_size`: above this many bytes of vault a save warns.
    pub max_size: u64,
    /// `safety.max_file`: a larger file is not held (bytes).
    pub max_file: u64,
    /// `safety.max_ignored`: a larger ignored file is not held unless `include_ignored` names it (bytes).
    pub max_ignored: u64,
    /// `safety.max_included`: a larger ignored file is not held even then (bytes).
    pub max_included: u64,
    /// `safety.include_ignored`: gitignore patterns of ignored files that are held though they are large.
    pub include_ignored: Vec<String>,
    /// `safety.keep`: this many of the newest points are always kept.
    pub keep: usize,
    /// `safety.keep_days`: points younger than this are always kept.
    pub keep_days: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            store: None,
            max_size: 10 << 30,
            max_file: u64::MAX,
            max_ignored: 1 << 20,
            max_included: 256 << 20,
            include_ignored: [
                ".env*",
                "*.local",
                "*.pem",
                "*.key",
                "*.p12",
                "*.pfx",
                "*.jks",
                "*.keystore",
                "id_*",
                "*.db",
                "*.sqlite",
                "*.sqlite3",
                "*.mdb",
                "*.duckdb",
                "*.rdb",
            ]
            .map(str::to_owned)
            .to_vec(),
            keep: 50,
            keep_days: 30,
        }
    }
}
