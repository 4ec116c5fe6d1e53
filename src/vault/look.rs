//! Looks at the workspace: what is there now, seen against the stat cache.

use super::assemble::{Picture, Remember, assemble};
use super::cache::Cache;
use super::excludes::{self, Rules};
use super::gaps;
use super::id::ContentId;
use super::ignore::Repo;
use super::layout::Vault;
use super::ledger;
use super::pack::PackWriter;
use super::point::NotHeld;
use super::stamp::Stamp;
use super::store::Packer;
use super::walk::{Side, Trust, Walk};
use crate::error::{Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::out;
use bstr::BString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// How often a walk is repeated when git's objects moved under it.
const ATTEMPTS: usize = 5;

/// What a person is told whose vault has lost a pack.
const LOST: &str = "holdpoint: the vault has lost contents that it had, so everything is read anew; \
                    see which points are whole: holdpoint points verify";

/// The workspace as it is now, seen against the cache.
pub(super) struct Now {
    pub(super) cache: Cache,
    pub(super) picture: Picture,
    pub(super) not_held: Vec<NotHeld>,
    pub(super) rules: ContentId,
    pub(super) pack: Option<PackWriter>,
    /// True where the vault lost what the cache knew, so that all was read anew.
    pub(super) anew: bool,
    /// The index's time before the walk; an older one than the bytes' is the safe side.
    pub(super) index_mtime: (i64, u32),
}

impl Now {
    /// Returns true where all its new trees are in memory; those of a first point are in its pack.
    pub(super) fn holds_its_trees(&self) -> bool {
        self.pack.is_none() || !self.cache.is_empty()
    }
}

/// Whether new contents are kept or only named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// They go into a new pack.
    Contents,
    /// Nothing is written.
    Nothing,
}

/// Looks at the workspace.
pub(super) fn look(
    vault: &Vault,
    env: &Env,
    workspace: &Workspace,
    keep: Keep,
    trust: Trust,
) -> Result<Now> {
    let path = vault.cache(workspace);
    let glance = Glance {
        vault,
        workspace,
        keep,
        trust,
        own_places: own_places(env, vault, workspace),
        repo: rules_of(env, workspace),
    };
    let mut is_sound = true;
    for attempt in 1.. {
        let mut cache = if is_sound {
            Cache::load(&path)?
        } else {
            Cache::default()
        };
        let anew = !cache.is_empty() && !ledger::is_whole(vault, workspace)?;
        if anew {
            cache = Cache::default();
            if keep == Keep::Contents && attempt == 1 {
                out::note(LOST);
            }
        }
        let known = !cache.is_empty();
        match glance.at(cache) {
            Ok((Looked::Still, now)) => return Ok(Now { anew, ..now }),
            Ok((Looked::Moving, now)) if attempt >= ATTEMPTS => return Ok(Now { anew, ..now }),
            Ok((Looked::Moving, now)) => {
                if let Some(pack) = now.pack {
                    pack.abandon();
                }
            }
            // The cache is a short cut only: without it everything is read.
            Err(error) if known && error.kind() == ErrorKind::Damaged => is_sound = false,
            Err(error) => return Err(error),
        }
    }
    Err(Error::new(
        ErrorKind::Busy,
        "cannot take a safety point: git's objects keep moving",
    ))
}

/// Whether git's objects moved while they were looked at.
enum Looked {
    Still,
    Moving,
}

/// What a look at the workspace needs, however often it is repeated.
struct Glance<'a> {
    vault: &'a Vault,
    workspace: &'a Workspace,
    keep: Keep,
    trust: Trust,
    own_places: Vec<(Side, BString)>,
    repo: Repo,
}

impl Glance<'_> {
    /// Looks once, against what the cache knows.
    fn at(&self, cache: Cache) -> Result<(Looked, Now)> {
        let pack = (self.keep == Keep::Contents).then(|| {
            let name = format!("tmp-{}.pack", ulid::Ulid::generate());
            PackWriter::new(self.vault.store.dir().join(name))
        });
        match self.through(&cache, pack.as_ref()) {
            Ok((looked, seen)) => Ok((
                looked,
                Now {
                    cache,
                    picture: seen.picture,
                    not_held: seen.not_held,
                    rules: seen.rules,
                    pack,
                    anew: false,
                    index_mtime: seen.index_mtime,
                },
            )),
            Err(error) => {
                if let Some(pack) = pack {
                    pack.abandon();
                }
                Err(error)
            }
        }
    }

    fn through(&self, cache: &Cache, pack: Option<&PackWriter>) -> Result<(Looked, Seen)> {
        let Self {
            vault,
            workspace,
            repo,
            ..
        } = self;
        let rules = fingerprint(workspace, repo);
        let index_mtime = workspace
            .git_dir
            .as_ref()
            .and_then(|dir| rustix::fs::lstat(dir.join("index")).ok())
            .map_or((1, 0), |stat| Stamp::of(&stat).mtime);
        let work = (workspace.kind != crate::repo::Kind::Bare).then(|| workspace.root.clone());
        let git = workspace.common_dir.clone();
        let sides: Vec<Side> = [(Side::Work, &work), (Side::Git, &git)]
            .into_iter()
            .filter_map(|(side, path)| path.as_ref().map(|_| side))
            .collect();
        let found = Walk {
            work,
            git,
            own_git: workspace.common_dir.as_deref() == Some(&*workspace.root.join(".git")),
            own_places: self.own_places.clone(),
            rules_same: !cache.is_empty() && cache.header.rules == rules,
            cache,
            repo: Repo::new(
                BString::default(),
                repo.git_dir().cloned(),
                repo.rules().clone(),
            ),
            settings: &vault.settings,
            store: &vault.store,
            pack,
            links: &vault.links,
            trust: self.trust,
        }
        .run()?;
        let mut packer = Packer::new(&vault.store, pack)?;
        // Whoever plans a rollback from this picture finds its few new trees in memory.
        let remember = if self.keep == Keep::Nothing || !cache.is_empty() {
            Remember::Trees
        } else {
            Remember::Nothing
        };
        let looked = if found.vanished {
            Looked::Moving
        } else {
            Looked::Still
        };
        let picture = assemble(cache, found.visits, &sides, &mut packer, remember)?;
        let mut not_held: Vec<NotHeld> = found
            .not_held
            .into_iter()
            .map(|(side, path, why)| NotHeld {
                path: match side {
                    Side::Work => path,
                    Side::Git => [b".git/", path.as_slice()].concat().into(),
                },
                why,
                count: 1,
            })
            .collect();
        not_held.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((
            looked,
            Seen {
                picture,
                not_held: gaps::fold(not_held),
                rules,
                index_mtime,
            },
        ))
    }
}

/// What one look saw.
struct Seen {
    picture: Picture,
    not_held: Vec<NotHeld>,
    rules: ContentId,
    index_mtime: (i64, u32),
}

/// Holdpoint's own directories, where they lie inside the workspace or its git directory.
fn own_places(env: &Env, vault: &Vault, workspace: &Workspace) -> Vec<(Side, BString)> {
    let dirs = env.state_home().into_iter().chain([vault.dir.clone()]);
    let mut places = Vec::new();
    for dir in dirs.filter_map(|dir| fs::canonicalize(dir).ok()) {
        let below = |top: &Path| {
            let relative = dir.strip_prefix(top).ok()?;
            Some(BString::from(relative.as_os_str().as_bytes()))
        };
        let git = workspace.common_dir.as_deref().and_then(below);
        let place = match git {
            Some(path) => Some((Side::Git, path)),
            None => below(&workspace.root).map(|path| (Side::Work, path)),
        };
        places.extend(place);
    }
    places
}

/// Where the workspace's ignore rules come from.
fn rules_of(env: &Env, workspace: &Workspace) -> Repo {
    let home = env.home();
    let xdg = env
        .var("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| home.as_ref().map(|home| home.join(".config")))
        .map(|dir| dir.join("git"));
    let mut configs = Vec::new();
    if let Some(system) = env.var("GIT_CONFIG_SYSTEM") {
        configs.push(PathBuf::from(system));
    } else if env.var("GIT_CONFIG_NOSYSTEM").is_none() {
        configs.push(PathBuf::from("/etc/gitconfig"));
    }
    if let Some(global) = env.var("GIT_CONFIG_GLOBAL") {
        configs.push(PathBuf::from(global));
    } else {
        configs.extend(xdg.as_ref().map(|dir| dir.join("config")));
        configs.extend(home.as_ref().map(|home| home.join(".gitconfig")));
    }
    configs.extend(workspace.common_dir.as_ref().map(|dir| dir.join("config")));
    configs.extend(
        workspace
            .git_dir
            .as_ref()
            .map(|dir| dir.join("config.worktree")),
    );
    let rules: Rules = excludes::read(&excludes::Place {
        configs: &configs,
        home: home.as_deref(),
        git_dir: workspace.git_dir.as_deref(),
        default: xdg.map(|dir| dir.join("ignore")),
    });
    Repo::new(BString::default(), workspace.git_dir.clone(), rules)
}

/// Stands for the ignore rules outside the worktree, and for what the index tracks.
fn fingerprint(workspace: &Workspace, repo: &Repo) -> ContentId {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{:?}", repo.rules().case).as_bytes());
    let files = [
        workspace.git_dir.as_ref().map(|dir| dir.join("index")),
        workspace
            .common_dir
            .as_ref()
            .map(|dir| dir.join("info/exclude")),
        repo.rules().excludes.clone(),
    ];
    for path in files.into_iter().flatten() {
        hasher.update(path.as_os_str().as_bytes());
        if let Ok(stat) = rustix::fs::stat(&path) {
            let stamp = Stamp::of(&stat);
            hasher.update(format!("{stamp:?}").as_bytes());
        }
        hasher.update(b"\0");
    }
    ContentId(*hasher.finalize().as_bytes())
}
