//! Checks that the vault is whole, and sets aside what is not.

use super::id::ContentId;
use super::layout::Vault;
use super::links;
use super::mend;
use super::pack::{Encoding, Pack};
use super::point::{SafetyPoint, ids};
use super::take::point_path;
use super::tree::Kind;
use crate::error::{Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// Something that does not read as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The point, where the fault belongs to one.
    pub point: Option<String>,
    /// What is wrong.
    pub what: String,
}

/// Reads everything back: every content is hashed again, every point followed to its leaves.
///
/// # Errors
/// When the vault cannot be listed; what does not read well is in the answer.
pub fn verify(env: &Env, workspace: &Workspace) -> Result<Vec<Fault>> {
    let vault = Vault::find(env, workspace)?;
    if !vault.dir.exists() {
        return Ok(Vec::new());
    }
    let contents = vault.use_contents()?;
    let mut faults = Vec::new();
    let mut sizes: HashMap<ContentId, u64> = HashMap::new();
    let mut damaged = Vec::new();
    let mut fault = |path: &Path, error: &Error| {
        if error.kind() == ErrorKind::Damaged {
            damaged.push(path.to_path_buf());
        }
        faults.push(Fault {
            point: None,
            what: error.doing().to_owned(),
        });
    };
    for (name, _) in vault.list()?.packs {
        let path = vault.store.dir().join(name);
        let _ = Pack::open(&path).inspect_err(|error| fault(&path, error));
    }
    for pack in vault.store.packs()?.iter() {
        let _ = check_pack(&vault, pack, &mut sizes).inspect_err(|error| fault(pack.path(), error));
    }
    let mut known = HashSet::new();
    let mut links = Vec::new();
    for id in ids(&vault.points())? {
        let checked = SafetyPoint::read(&point_path(&vault, &id)).and_then(|point| {
            let trees = point.iter().flat_map(|point| [point.work, point.git]);
            // Both are gone through, so that all links are looked at.
            let checked: Vec<_> = trees
                .flatten()
                .map(|tree| check_tree(&vault, tree.tree, &sizes, &mut known, &mut links))
                .collect();
            checked.into_iter().collect::<Result<()>>()
        });
        if let Err(error) = checked {
            faults.push(Fault {
                point: Some(id),
                what: error.to_string(),
            });
        }
    }
    drop(contents);
    links.sort_unstable();
    links.dedup();
    if !damaged.is_empty() || !links.is_empty() {
        faults.push(Fault {
            point: None,
            what: match mend::set_aside(&vault, &damaged, &links) {
                Ok(aside) => told(&aside),
                Err(error) => format!("what is damaged could not be set aside: {error}"),
            },
        });
    }
    Ok(faults)
}

fn told(aside: &[PathBuf]) -> String {
    let aside: Vec<_> = aside
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    if aside.is_empty() {
        return "the next point holds the workspace anew: holdpoint save".to_owned();
    }
    format!(
        "set aside as {}; the next point holds the workspace anew: holdpoint save",
        aside.join(", ")
    )
}

fn check_pack(vault: &Vault, pack: &Pack, sizes: &mut HashMap<ContentId, u64>) -> Result<()> {
    pack.check_index()?;
    for entry in pack.all()? {
        // Reading a content checks it against its id.
        let size = match entry.encoding {
            Encoding::Chunks => vault.store.copy(&entry.id, &mut io::sink())?,
            Encoding::Raw | Encoding::Zstd => pack.check(&entry)?,
        };
        sizes.insert(entry.id, size);
    }
    Ok(())
}

fn check_tree(
    vault: &Vault,
    top: ContentId,
    sizes: &HashMap<ContentId, u64>,
    known: &mut HashSet<ContentId>,
    broken: &mut Vec<PathBuf>,
) -> Result<()> {
    let mut waiting = vec![(top, Vec::new())];
    let mut first = None;
    while let Some((id, path)) = waiting.pop() {
        if known.contains(&id) {
            continue;
        }
        for row in vault.store.tree(&id)?.rows {
            let fault = |what: &str| {
                Error::new(
                    ErrorKind::Damaged,
                    format!("{}{}: {what}", String::from_utf8_lossy(&path), row.name),
                )
            };
            match row.kind {
                Kind::Dir => {
                    let mut below = path.clone();
                    below.extend_from_slice(&row.name);
                    below.push(b'/');
                    waiting.push((row.id, below));
                }
                Kind::File | Kind::SmallObject => match sizes.get(&row.id) {
                    Some(size) if *size == row.size => {}
                    Some(_) => {
                        first.get_or_insert_with(|| fault("its content has another length"));
                    }
                    None => {
                        first.get_or_insert_with(|| fault("its content is missing or damaged"));
                    }
                },
                Kind::Link if !sizes.contains_key(&row.id) => {
                    first.get_or_insert_with(|| fault("its target is missing or damaged"));
                }
                Kind::Object if !known.contains(&row.id) => {
                    // All of them are found, so that they can be held anew at once.
                    if let Err(error) = links::check(&vault.links, &path, &row) {
                        broken.push(vault.links.path(&row.id));
                        let fault = fault("git's object is not whole in the vault").because(error);
                        first.get_or_insert(fault);
                    } else {
                        known.insert(row.id);
                    }
                }
                _ => {}
            }
        }
        if first.is_none() {
            known.insert(id);
        }
    }
    first.map_or(Ok(()), Err)
}
