//! Output that tools make and make again, by its name alone. Pure.

use bstr::ByteSlice as _;

/// Directories that tools make and make again.
const BUILD: &[&str] = &[
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    "output",
    "__pycache__",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".cache",
    "coverage",
    "htmlcov",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".venv",
    "venv",
    "env",
    ".gradle",
    ".eggs",
    "cmake-build-debug",
    "cmake-build-release",
    "bower_components",
    ".angular",
    ".vite",
    ".webpack",
    ".output",
    ".docusaurus",
    ".serverless",
    ".terraform",
    ".nyc_output",
    ".eslintcache",
    ".stylelintcache",
    "DerivedData",
    "Pods",
    ".dart_tool",
    "zig-cache",
    ".zig-cache",
    "zig-out",
    "_build",
    "deps-cache",
    ".stack-work",
    "dist-newstyle",
    "elm-stuff",
    ".bloop",
    ".metals",
    ".ipynb_checkpoints",
    ".hypothesis",
    ".sass-cache",
    "storybook-static",
    "public-build",
    ".rollup.cache",
    ".expo",
    ".yarn-cache",
    "tmp",
    "temp",
    ".tmp",
    ".temp",
    "obj",
    "Debug",
    "Release",
    ".build",
    "bazel-out",
    "bazel-bin",
    "buck-out",
    ".pub-cache",
    ".swc",
    ".cargo-cache",
    ".vercel",
    ".netlify",
    ".wrangler",
    ".aws-sam",
    "cdk.out",
    "playwright-report",
    "test-results",
    "cypress-cache",
    ".phpunit.cache",
    ".pnpm-store",
    "site-packages-cache",
    ".jekyll-cache",
    "_site",
    ".hugo_build.lock",
    "logs",
];

/// File names that tools make and make again; patterns.
const MADE: &[&str] = &[
    "*.pyc",
    "*.pyo",
    "*.o",
    "*.obj",
    "*.class",
    "*.log",
    "*.tmp",
    "*.temp",
    "*.swp",
    "*.swo",
    "*~",
    ".DS_Store",
    "Thumbs.db",
    ".eslintcache",
    "*.tsbuildinfo",
    "*.rej",
    "*.orig",
    ".coverage",
    "*.egg-info",
    "npm-debug.log*",
    "yarn-error.log*",
    "*.lo",
    "*.la",
    "*.gcda",
    "*.gcno",
    "*.d.tmp",
    "core.[0-9]*",
    "nohup.out",
    "*.pid",
    "*.sock",
    "*.stackdump",
    "*.cache",
    "a.out",
    ".stylelintcache",
    "*.prof",
    "*.profraw",
    "*.trace",
    "coverage.xml",
    "*.lock.tmp",
    "*.map.tmp",
    "*.test",
    "*.exe.stackdump",
    "*.lcov",
];

/// Returns true for a path that lies in, or is, output that can be made again.
#[must_use]
pub(super) fn is_made_again(path: &[u8]) -> bool {
    if path.split_str("/").any(|part| part == b"..") {
        return false;
    }
    let mut parts = path
        .split_str("/")
        .filter(|part| !part.is_empty() && *part != b".")
        .peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        // A literal name, or a pattern that begins like one (`cmake-build-*`).
        if BUILD.iter().any(|name| part == name.as_bytes()) {
            return true;
        }
        if part.starts_with(b"cmake-build-") || part.starts_with(b"bazel-") {
            return true;
        }
        if last
            && MADE
                .iter()
                .any(|name| crate::shell::matches(name.as_bytes(), part))
        {
            return true;
        }
    }
    false
}

/// Returns true for a lock file of a package manager, which the next install writes anew.
pub(super) fn is_resolved_again(path: &[u8]) -> bool {
    let name = path.rsplit_str("/").next().unwrap_or_default();
    matches!(
        name,
        b"package-lock.json"
            | b"npm-shrinkwrap.json"
            | b"yarn.lock"
            | b"pnpm-lock.yaml"
            | b"bun.lock"
            | b"bun.lockb"
            | b"Cargo.lock"
            | b"poetry.lock"
            | b"uv.lock"
            | b"pdm.lock"
            | b"Pipfile.lock"
            | b"Gemfile.lock"
            | b"composer.lock"
            | b"mix.lock"
            | b"pubspec.lock"
            | b"Podfile.lock"
            | b"flake.lock"
            | b"go.sum"
    )
}

#[cfg(test)]
mod tests {
    use super::is_made_again;

    #[test]
    fn output_that_tools_make_again_is_known_by_its_name() {
        for path in [
            "target",
            "target/debug/x",
            "./node_modules",
            "a/__pycache__/b.pyc",
            "x.o",
            ".next",
        ] {
            assert!(is_made_again(path.as_bytes()), "{path}");
        }
        for path in ["src", "targets", "build/../src", "docs/build.md", "main.rs"] {
            assert!(!is_made_again(path.as_bytes()), "{path}");
        }
    }
}
