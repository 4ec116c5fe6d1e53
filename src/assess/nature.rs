//! What sort of file a path is, by its name alone. Pure.

use crate::contract::PLACES;
use crate::judge::Nature;
use crate::prefs;
use bstr::{BStr, ByteSlice as _};

/// Names that hold credentials or say who may do what.
const AUTH_NAMES: &[&str] = &[
    ".env",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    "authorized_keys",
    "codeowners",
    "credentials",
    "htpasswd",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "known_hosts",
    "passwd",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "shadow",
    "sshd_config",
    "sudoers",
];

/// Endings of keys and key stores.
const AUTH_ENDINGS: &[&str] = &[
    ".asc",
    ".gpg",
    ".jks",
    ".key",
    ".keystore",
    ".p12",
    ".pem",
    ".pfx",
    ".ppk",
];

/// Endings of databases and data sets.
const DATA_ENDINGS: &[&str] = &[
    ".arrow", ".avro", ".bson", ".db", ".db3", ".dump", ".duckdb", ".feather", ".h5", ".hdf5",
    ".ldb", ".ldf", ".mdb", ".mdf", ".npy", ".npz", ".orc", ".parquet", ".pickle", ".pkl", ".rdb",
    ".sqlite", ".sqlite3", ".sst",
];

/// Names of build, CI, lint, container and editor configuration.
const CONFIG_NAMES: &[&str] = &[
    ".babelrc",
    ".clang-format",
    ".clang-tidy",
    ".dockerignore",
    ".editorconfig",
    ".eslintrc",
    ".gitattributes",
    ".gitconfig",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".golangci.yml",
    ".pre-commit-config.yaml",
    ".prettierrc",
    ".rustfmt.toml",
    ".travis.yml",
    "appveyor.yml",
    "azure-pipelines.yml",
    "build.gradle",
    "build.gradle.kts",
    "bunfig.toml",
    "cargo.toml",
    "clippy.toml",
    "cmakelists.txt",
    "compose.yaml",
    "compose.yml",
    "composer.json",
    "containerfile",
    "deno.json",
    "docker-compose.yaml",
    "docker-compose.yml",
    "dockerfile",
    "eslint.config.js",
    "gemfile",
    "go.mod",
    "go.work",
    "gradle.properties",
    "jenkinsfile",
    "jest.config.js",
    "justfile",
    "lefthook.yml",
    "makefile",
    "meson.build",
    "mix.exs",
    "package.json",
    "pipfile",
    "pom.xml",
    "procfile",
    "pyproject.toml",
    "pytest.ini",
    "renovate.json",
    "requirements.txt",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "settings.gradle",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "tsconfig.json",
    "turbo.json",
    "vagrantfile",
    "vite.config.js",
    "vite.config.ts",
    "webpack.config.js",
];

/// Directories whose files are configuration of CI, editors, agents or deployment.
const CONFIG_DIRS: &[&str] = &[
    ".cargo",
    ".circleci",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".gemini",
    ".github",
    ".gitlab",
    ".husky",
    ".idea",
    ".opencode",
    ".vscode",
];

/// Agents' own settings, in which their permissions and hooks lie.
const AGENT_SETTINGS: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".gemini/settings.json",
    ".github/copilot/settings.json",
    ".github/copilot/settings.local.json",
    "opencode.json",
];

/// Returns true for a file whose content must not leave the machine.
#[must_use]
pub(super) fn is_secret(path: &BStr) -> bool {
    let lower = path.to_str_lossy().to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    let public = matches!(
        name,
        "codeowners" | "known_hosts" | "authorized_keys" | "sshd_config" | "config"
    ) || [".pub", ".asc", ".gpg", ".json", ".toml", ".md"]
        .iter()
        .any(|ending| name.ends_with(ending))
        && !name.starts_with("secrets");
    !public && nature(path) == Nature::Auth
}

/// Says what sort of file a path is; the path is relative to the worktree's top.
#[must_use]
pub fn nature(path: &BStr) -> Nature {
    let text = path.to_str_lossy();
    if PLACES.contains(&text.as_ref()) {
        return Nature::Contract;
    }
    if prefs::confirmed::policy_files().contains(&text.as_ref()) {
        return Nature::Policy;
    }
    let lower = text.to_ascii_lowercase();
    let (dir, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let dirs: Vec<&str> = dir.split('/').collect();
    if AUTH_NAMES.contains(&name)
        || (name.starts_with(".env.") && !ends(&[".example", ".sample", ".template"]))
        || ends(AUTH_ENDINGS)
        || dirs.contains(&".ssh")
        || dirs.contains(&".aws")
        || dirs.contains(&".gnupg")
        || lower.starts_with(".github/hooks/")
        || AGENT_SETTINGS.contains(&lower.as_str())
    {
        return Nature::Auth;
    }
    if ends(DATA_ENDINGS) {
        return Nature::Data;
    }
    if CONFIG_NAMES.contains(&name)
        || dirs.iter().any(|dir| CONFIG_DIRS.contains(dir))
        || name.starts_with("dockerfile.")
        || name.starts_with(".eslintrc.")
        || name.starts_with(".prettierrc.")
        || (name.starts_with("tsconfig.") && ends(&[".json"]))
        || (name.starts_with("requirements") && ends(&[".txt"]))
    {
        return Nature::Config;
    }
    Nature::Ordinary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_secret_and_its_public_half_is_not() {
        for path in [
            ".env",
            ".env.production",
            "deploy/id_rsa",
            ".npmrc",
            "x/server.pem",
            "/root/.aws/credentials",
        ] {
            assert!(is_secret(path.into()), "{path}");
        }
        for path in [
            ".env.example",
            "id_rsa.pub",
            ".ssh/known_hosts",
            "package.json",
            "src/main.rs",
            ".claude/settings.json",
        ] {
            assert!(!is_secret(path.into()), "{path}");
        }
    }

    #[test]
    fn names_tell_what_a_file_is() {
        for (path, expected) in [
            ("src/main.rs", Nature::Ordinary),
            ("docs/key.md", Nature::Ordinary),
            ("data/users.sqlite3", Nature::Data),
            ("important.db", Nature::Data),
            ("Cargo.toml", Nature::Config),
            ("crates/a/Cargo.toml", Nature::Config),
            (".github/workflows/ci.yml", Nature::Config),
            ("docker/Dockerfile.prod", Nature::Config),
            (".env", Nature::Auth),
            (".env.production", Nature::Auth),
            (".env.example", Nature::Ordinary),
            ("deploy/server.PEM", Nature::Auth),
            (".github/CODEOWNERS", Nature::Auth),
            (".claude/settings.json", Nature::Auth),
            (".ccg/contract.md", Nature::Contract),
            ("ai/contracts/current.md", Nature::Contract),
            (".ccg/user_preferences.json", Nature::Policy),
            (".ccg/decisions.json", Nature::Policy),
        ] {
            assert_eq!(nature(path.into()), expected, "{path}");
        }
    }
}
