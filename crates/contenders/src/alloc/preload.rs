//! Allocators of this machine that take the place of the C library's: shared libraries that are preloaded
//! into a process, which then runs on them wherever it would call `malloc`. No compiler is needed.
//!
//! Starts no process: whoever does sets `LD_PRELOAD` to [`Preload::file`], and the process asks
//! [`is_in_effect`](Preload::is_in_effect) before it believes it.

use std::path::PathBuf;

use super::kernel::file_of_malloc;

/// What this process was told to preload, without the allocators that are known; `None` where there is none of them.
#[must_use]
pub fn others_preloaded() -> Option<String> {
    without_allocators(&std::env::var("LD_PRELOAD").ok()?)
}

fn without_allocators(preloaded: &str) -> Option<String> {
    // Files are named with and without the number of their version.
    let stem = |file: &str| file.split(".so").next().map(str::to_owned);
    let is_allocator = |file: &&str| {
        let name = stem(file.rsplit('/').next().unwrap_or(file));
        PRELOADS.iter().flat_map(|preload| preload.files).any(|known| stem(known) == name)
    };
    let (allocators, others): (Vec<&str>, Vec<&str>) =
        preloaded.split([' ', ':']).partition(is_allocator);
    (!allocators.is_empty()).then(|| others.join(":"))
}

/// An allocator that can be preloaded.
#[derive(Debug)]
pub struct Preload {
    /// What it is called here.
    pub name: &'static str,
    /// Its files, the one wanted most first.
    files: &'static [&'static str],
    /// The package of Debian that brings it; empty where there is none.
    package: &'static str,
}

/// All that are known, by their names.
pub static PRELOADS: &[Preload] = &[
    known("hoard", &["libhoard.so"], ""),
    known("jemalloc", &["libjemalloc.so.2"], "libjemalloc2"),
    known("mimalloc", &["libmimalloc.so.3", "libmimalloc.so.2"], "libmimalloc2.0"),
    known("mimalloc-secure", &["libmimalloc-secure.so.3", "libmimalloc-secure.so.2"], ""),
    known("rpmalloc", &["librpmallocwrap.so", "librpmalloc.so"], ""),
    known("scudo", &["libscudo.so", SCUDO], ""),
    known("snmalloc", &["libsnmallocshim.so"], ""),
    known("tcmalloc", &["libtcmalloc.so.4"], "libgoogle-perftools4"),
    known("tcmalloc-minimal", &["libtcmalloc_minimal.so.4"], "libtcmalloc-minimal4"),
];

const SCUDO: &str = if cfg!(target_arch = "x86_64") {
    "libclang_rt.scudo_standalone-x86_64.so"
} else {
    "libclang_rt.scudo_standalone-aarch64.so"
};

const fn known(
    name: &'static str,
    files: &'static [&'static str],
    package: &'static str,
) -> Preload {
    Preload { name, files, package }
}

impl Preload {
    /// The one called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Preload> {
        PRELOADS.iter().find(|preload| preload.name == name)
    }

    /// Its file on this machine: in the folders of `FATHOM_LIBRARY_PATH`, or where libraries lie.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        let named = ["FATHOM_LIBRARY_PATH", "LD_LIBRARY_PATH"].map(std::env::var_os);
        self.among(named.iter().flatten().flat_map(std::env::split_paths))
    }

    /// Its file in one of the folders named, or where libraries lie.
    fn among(&self, named: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
        // Processes that run in other folders are given the path. An empty name is none.
        let named = named.filter_map(|folder| std::path::absolute(folder).ok());
        let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        let usual = ["/usr/local/lib", &multiarch, "/usr/lib64", "/usr/lib"].map(PathBuf::from);
        let folders: Vec<PathBuf> = named.chain(usual).collect();
        let places =
            folders.iter().flat_map(|folder| self.files.iter().map(|file| folder.join(file)));
        places.into_iter().find(|place| place.is_file())
    }

    /// Whether this process takes its memory from it: its `malloc` is the one of that file.
    #[must_use]
    pub fn is_in_effect(&self) -> bool {
        let same = |wanted: PathBuf| {
            file_of_malloc().and_then(|file| file.canonicalize().ok()) == wanted.canonicalize().ok()
        };
        self.file().is_some_and(same)
    }

    /// Why it cannot be preloaded here.
    #[must_use]
    pub fn absence(&self) -> String {
        let file = self.files[0];
        match self.package {
            "" => format!("{file} is not on this machine"),
            package => format!("{file} is not on this machine (Debian: {package})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was passed over, and libraries are found there.
    #[test]
    fn a_folder_named_from_here_is_searched_and_the_file_named_from_the_root() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("libhoard.so"), "").unwrap();
        let here = std::env::current_dir().unwrap();
        let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
        let from_here = up.join(folder.path().strip_prefix("/").unwrap());
        let named = [PathBuf::new(), from_here].into_iter();
        let found = Preload::named("hoard").unwrap().among(named).unwrap();
        assert!(found.is_absolute() && found.ends_with("libhoard.so"), "{found:?}");
        assert!(found.is_file());
    }

    /// It took the place of the system's, and was told as that.
    #[test]
    fn allocators_that_others_preloaded_are_taken_out_and_nothing_else() {
        let left = without_allocators;
        let three = "/opt/libjemalloc.so.2:libx.so libmimalloc.so";
        assert_eq!(left(three).as_deref(), Some("libx.so"));
        assert_eq!(left("libtcmalloc_minimal.so.4.5.10").as_deref(), Some(""));
        assert_eq!((left("/opt/libx.so:libhoard_x.so"), left("")), (None, None));
    }

    #[test]
    fn nothing_is_in_effect_in_a_process_that_preloads_nothing() {
        let file = file_of_malloc();
        // A static program has it without a file, and preloads nothing.
        let is_told = file.as_ref().is_some_and(|file| file.is_file());
        assert!(is_told || cfg!(target_feature = "crt-static"), "{file:?}");
        assert!(PRELOADS.iter().all(|preload| !preload.is_in_effect()), "{file:?}");
    }
}
