//! Archives and patches that land on files: judged by the names that they hold.

use super::level;
use crate::support::Sandbox;
use std::io::Write as _;
use std::path::Path;

/// A repository with a committed, a changed and an untracked file.
fn repository() -> Sandbox {
    let sandbox =
        Sandbox::with_files(&[("src/clean.rs", "clean\n"), ("src/changed.rs", "before\n")]);
    sandbox.write("src/changed.rs", "only here\n");
    sandbox.write("notes.md", "only here\n");
    sandbox
}

fn tar(into: impl std::io::Write, names: &[&str]) {
    let mut archive = tar::Builder::new(into);
    for name in names {
        let mut header = tar::Header::new_ustar();
        header.set_size(4);
        header.set_mode(0o644);
        header.set_cksum();
        archive
            .append_data(&mut header, name, &b"new\n"[..])
            .unwrap();
    }
    archive.finish().unwrap();
}

fn gzipped(path: &Path, names: &[&str]) {
    let file = std::fs::File::create(path).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    tar(&mut packed, names);
    packed.finish().unwrap();
}

fn zipped(path: &Path, names: &[&str]) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for name in names {
        archive.start_file(*name, stored).unwrap();
        archive.write_all(b"new\n").unwrap();
    }
    archive.finish().unwrap();
}

fn files(verdict: &serde_json::Value) -> String {
    verdict["loses"].to_string()
}

#[test]
fn an_archive_is_judged_by_the_names_in_it() {
    let sandbox = repository();
    let at = |name: &str| sandbox.path(name);
    let all = ["src/clean.rs", "src/changed.rs", "new.rs"];
    tar(std::fs::File::create(at("all.tar")).unwrap(), &all);
    gzipped(&at("all.tgz"), &all);
    zipped(&at("all.zip"), &all);
    let packed = zstd::encode_all(std::fs::File::open(at("all.tar")).unwrap(), 1).unwrap();
    std::fs::write(at("all.tar.zst"), packed).unwrap();
    gzipped(&at("new.tgz"), &["new.rs", "more/new.rs"]);
    gzipped(&at("deep.tgz"), &["top/notes.md", "top/other.md"]);
    gzipped(&at("hooks.tgz"), &[".git/hooks/pre-commit"]);
    let dir = sandbox.path("").display().to_string();
    let dir = dir.trim_end_matches('/');
    for command in [
        format!("tar xf {dir}/all.tar"),
        format!("tar -xzf {dir}/all.tgz"),
        format!("tar --extract --file={dir}/all.tar.zst"),
        format!("bsdtar -xf {dir}/all.tgz src/changed.rs"),
        format!("unzip -o {dir}/all.zip"),
        format!("7z x -y {dir}/all.zip"),
        format!("tar xf {dir}/all.tgz -C ."),
    ] {
        let (level, verdict) = level(&sandbox, &command);
        assert!(level >= 2, "{command}: {verdict}");
        assert!(
            files(&verdict).contains("src/changed.rs"),
            "{command}: {verdict}"
        );
    }
    for command in [
        format!("tar xf {dir}/all.tgz src/clean.rs"),
        format!("tar xf {dir}/all.tgz -O"),
        format!("tar tf {dir}/all.tgz"),
        format!("tar xf {dir}/new.tgz"),
        format!("tar xkf {dir}/all.tgz"),
        format!("unzip -n {dir}/all.zip"),
        format!("unzip -l {dir}/all.zip"),
        format!("tar xf {dir}/deep.tgz"),
        format!("tar xf {dir}/all.tgz -C /tmp/elsewhere"),
        format!("tar xf {dir}/not-there-yet.tgz"),
        "curl -LO https://example.org/all.tgz && tar xf all.tgz".to_owned(),
    ] {
        let (level, verdict) = level(&sandbox, &command);
        assert!(level <= 1, "{command}: {verdict}");
    }
    let (stripped, verdict) = level(
        &sandbox,
        &format!("tar xf {dir}/deep.tgz --strip-components=1"),
    );
    assert!(
        stripped >= 2 && files(&verdict).contains("notes.md"),
        "{verdict}"
    );
    // Neither a pipe in the archive's place nor members behind its end are taken for nothing.
    let made = sandbox
        .command("mkfifo")
        .arg(at("pipe.tar"))
        .status()
        .unwrap();
    assert!(made.success());
    for command in [
        format!("tar xf {dir}/pipe.tar"),
        format!("tar xif {dir}/new.tgz"),
    ] {
        let (level, verdict) = level(&sandbox, &command);
        assert_eq!(level, 1, "{command}: {verdict}");
    }
    let (hooks, verdict) = level(&sandbox, &format!("tar xf {dir}/hooks.tgz"));
    assert_eq!(hooks, 3, "{verdict}");
}

#[test]
fn what_lies_beyond_the_part_that_is_read_is_not_taken_for_nothing() {
    let sandbox = repository();
    let path = sandbox.path("long.tgz");
    let file = std::fs::File::create(&path).unwrap();
    let packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    let mut archive = tar::Builder::new(packed);
    // The second member begins where the reading ends, to the byte.
    for (name, size) in [("big", 96 * 1024 * 1024 - 512), ("src/changed.rs", 4)] {
        let mut header = tar::Header::new_ustar();
        header.set_size(size);
        header.set_mode(0o644);
        header.set_cksum();
        let zeros = std::io::Read::take(std::io::repeat(0), size);
        archive.append_data(&mut header, name, zeros).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
    let command = format!("tar xf {}", path.display());
    let (level, verdict) = level(&sandbox, &command);
    assert_eq!(level, 1, "{verdict}");
}

#[test]
fn a_patch_is_judged_by_the_files_that_it_names() {
    let sandbox = repository();
    let patch = |name: &str, text: &str| sandbox.write(name, text);
    patch(
        "change.patch",
        "--- a/src/clean.rs\n+++ b/src/clean.rs\n@@ -1 +1 @@\n-clean\n+other\n",
    );
    patch(
        "delete.patch",
        "diff --git a/src/clean.rs b/src/clean.rs\ndeleted file mode 100644\n--- a/src/clean.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-clean\n",
    );
    patch(
        "guard.patch",
        "--- /dev/null\n+++ b/.claude/settings.json\n@@ -0,0 +1 @@\n+{}\n",
    );
    let rm = level(&sandbox, "rm src/clean.rs").0;
    for command in [
        "git apply delete.patch",
        "patch -p1 < delete.patch",
        "patch -p1 -i delete.patch",
        "cat delete.patch | git apply",
        "git -C src apply ../delete.patch",
    ] {
        let (level, verdict) = level(&sandbox, command);
        assert_eq!(level, rm, "{command}: {verdict}");
    }
    for command in ["git apply guard.patch", "patch -p1 -i guard.patch"] {
        let (level, verdict) = level(&sandbox, command);
        assert_eq!(level, 3, "{command}: {verdict}");
    }
    for command in [
        "git apply change.patch",
        "git apply --check delete.patch",
        "patch --dry-run -p1 < delete.patch",
        "git apply -R change.patch",
        "git apply not-there.patch",
        "git diff > /tmp/kept.patch && git apply -R /tmp/kept.patch",
        "git show HEAD | git apply -R",
        "git diff HEAD~1 HEAD | git apply -R",
        "git diff main..HEAD | git apply",
    ] {
        let (level, verdict) = level(&sandbox, command);
        assert!(level <= 1, "{command}: {verdict}");
    }
}

#[test]
fn a_difference_taken_back_is_lost() {
    let sandbox = repository();
    let restore = level(&sandbox, "git restore .").0;
    for command in [
        "git diff | git apply -R",
        "git diff HEAD | git apply --reverse",
        "git diff -- src | git apply -R -",
        "git diff | patch -R -p1",
        "git apply -R <(git diff)",
    ] {
        let (level, verdict) = level(&sandbox, command);
        assert_eq!(level, restore, "{command}: {verdict}");
        assert!(
            files(&verdict).contains("src/changed.rs"),
            "{command}: {verdict}"
        );
    }
}
