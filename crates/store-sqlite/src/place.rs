//! Where a journal lies: its file, made with mode 0600 on a local disk.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use surefill_core::StoreError;

use crate::error::{Kind, kind, reading};

/// The size of a page, bytes.
const PAGE: u64 = 2_048;

/// The path of a journal, free of links, so that every process names the same lock file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    file: PathBuf,
}

impl Place {
    /// Resolves the path of a journal that may not be there yet.
    pub(crate) fn resolve(path: &Path) -> Result<Self, StoreError> {
        let cannot = |error: io::Error| StoreError::NotWritable {
            path: path.to_owned(),
            what: error.to_string(),
        };
        let file = match fs::canonicalize(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = path.file_name().ok_or(error).map_err(cannot)?;
                let folder = match path.parent() {
                    Some(parent) if !parent.as_os_str().is_empty() => parent,
                    Some(_) | None => Path::new("."),
                };
                fs::canonicalize(folder).map_err(cannot)?.join(name)
            }
            Err(error) => return Err(cannot(error)),
        };
        if file.is_dir() {
            return Err(cannot(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Self { file })
    }

    /// The place of a journal that is there.
    pub(crate) fn existing(path: &Path) -> Result<Self, StoreError> {
        let file = fs::canonicalize(path).map_err(|error| StoreError::Read(Box::new(error)))?;
        let place = Self { file };
        place.whole()?;
        Ok(place)
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The file beside the journal whose name ends so.
    pub(crate) fn beside(&self, end: &str) -> PathBuf {
        let mut name = self.file.clone().into_os_string();
        name.push(end);
        name.into()
    }

    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or_else(|| Path::new("/"))
    }

    /// Makes the file when it is missing, so that its name is durable and nobody else may read it.
    ///
    /// SQLite gives the files beside it the same mode.
    pub(crate) fn make(&self) -> Result<(), StoreError> {
        let cannot = |error: io::Error| self.not_writable(error);
        let made = options().create_new(true).open(&self.file);
        match made {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return self.whole(),
            Err(error) => return Err(cannot(error)),
        }
        let synced = File::open(self.folder()).and_then(|folder| folder.sync_all());
        synced.map_err(cannot)
    }

    /// SQLite takes a file without a whole page for a new one, and throws the log beside it away. We do not.
    fn whole(&self) -> Result<(), StoreError> {
        let length = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
        let what = match (length(&self.file), length(&self.beside("-wal"))) {
            (0, 0) | (PAGE.., _) => return Ok(()),
            (0, _) => "the file is empty and its log is not",
            (_, _) => "the file ends within its first page",
        };
        Err(crate::error::damaged(what))
    }

    pub(crate) fn not_writable(&self, what: impl std::fmt::Display) -> StoreError {
        StoreError::NotWritable {
            path: self.file.clone(),
            what: what.to_string(),
        }
    }

    /// The error of a write while the journal is made, before anything is in it.
    pub(crate) fn no_room(&self, error: rusqlite::Error) -> StoreError {
        match kind(&error) {
            Kind::Full => StoreError::Full,
            Kind::Busy | Kind::Other => self.not_writable(error),
            Kind::Damaged => reading(error),
        }
    }

    /// Refuses file systems on which a sync or a lock may not mean what it says.
    #[cfg(target_os = "linux")]
    pub(crate) fn refuse_network(&self) -> Result<(), StoreError> {
        let stat = rustix::fs::statfs(self.folder()).map_err(|error| self.not_writable(error))?;
        let magic = u64::try_from(stat.f_type).unwrap_or_default() & 0xffff_ffff;
        match network(magic) {
            None => Ok(()),
            Some(name) => Err(self.not_writable(format_args!(
                "{name} neither locks nor syncs as a local disk does; put the journal on one"
            ))),
        }
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "the same signature everywhere")]
    pub(crate) const fn refuse_network(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Opens for reading and writing, for this user only.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// The name of a file system on which a sync or a lock may not mean what it says. Source: statfs(2), linux/magic.h.
///
/// FUSE is among them: behind it may be anything, sshfs too.
#[cfg(target_os = "linux")]
const fn network(magic: u64) -> Option<&'static str> {
    match magic {
        0x6969 => Some("NFS"),
        0x517b | 0xfe53_4d42 => Some("SMB"),
        0xff53_4d42 => Some("CIFS"),
        0x6573_5546 => Some("FUSE"),
        0x0102_1997 => Some("9P"),
        0x00c3_6400 => Some("Ceph"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        0x0bd0_0bd0 => Some("Lustre"),
        _ => None,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_magic() {
        for magic in [
            rustix::fs::NFS_SUPER_MAGIC,
            0xfe53_4d42_u32.into(),
            0x6573_5546,
        ] {
            let magic = u64::try_from(magic).unwrap();
            assert!(network(magic).is_some(), "{magic:#x}");
        }
        // ext4, xfs, btrfs, tmpfs, zfs, overlayfs.
        for magic in [
            0xef53,
            0x5846_5342,
            0x9123_683e,
            0x0102_1994,
            0x2fc1_2fc1,
            0x794c_7630,
        ] {
            assert_eq!(network(magic), None, "{magic:#x}");
        }
    }
}
