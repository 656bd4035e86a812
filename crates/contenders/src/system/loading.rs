//! One library: which files it may be, where they are looked for, and what it must have.
//!
//! Calls nothing of it but what tells its version.

use std::error::Error as _;
use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::Named;
use super::choice::{Choice, chosen};

/// Folders that are searched before those of the system's loader.
const PATH: &str = "FATHOM_LIBRARY_PATH";

/// The foreign functions of a library.
pub(crate) trait Functions: Send + Sync + Sized + 'static {
    /// Looks them up; the error is the symbol that is missing.
    ///
    /// # Safety
    /// The library's functions have the signatures that are written down here.
    unsafe fn find(symbols: &Symbols<'_>) -> Result<Self, &'static str>;
}

/// Whether a version is older than another.
fn is_before(version: &str, other: &str) -> bool {
    let numbers = |version: &str| -> Vec<u32> {
        version.split('.').map_while(|number| number.parse().ok()).collect()
    };
    numbers(version) < numbers(other)
}

/// What a library offers.
pub(crate) struct Symbols<'l> {
    library: &'l Library,
    /// The first number after the name of its file, which ICU adds to all its names: `u_errorName_72`.
    number: &'l str,
}

impl Symbols<'_> {
    /// The function of this name, or of this name and the number.
    ///
    /// # Safety
    /// It is of type `T`.
    pub(crate) unsafe fn get<T: Copy>(&self, name: &str) -> Option<T> {
        const { assert!(size_of::<T>() == size_of::<*mut c_void>(), "a pointer") };
        // SAFETY: of the same size, and a `T` as the caller promises.
        self.address(name).map(|address| unsafe { std::mem::transmute_copy(&address) })
    }

    fn address(&self, name: &str) -> Option<*mut c_void> {
        let found = |name: &str| {
            // SAFETY: an address is looked up, and nothing done with it.
            unsafe { self.library.get::<*mut c_void>(name.as_bytes()) }.ok().map(|found| *found)
        };
        found(name).or_else(|| found(&format!("{name}_{}", self.number)))
    }
}

/// Defines a structure of foreign functions by their symbols: those that must be there, and those that
/// only newer versions have.
macro_rules! functions {
    (
        $(#[$about:meta])* $name:ident {
            $($field:ident = $symbol:literal ($($args:tt)*) $(-> $output:ty)?;)*
            $(? $newer:ident = $newer_symbol:literal ($($newer_args:tt)*) $(-> $newer_output:ty)?;)*
        }
    ) => {
        $(#[$about])*
        pub(crate) struct $name {
            $($field: unsafe extern "C" fn($($args)*) $(-> $output)?,)*
            $($newer: Option<unsafe extern "C" fn($($newer_args)*) $(-> $newer_output)?>,)*
        }

        impl $crate::system::loading::Functions for $name {
            unsafe fn find(
                symbols: &$crate::system::loading::Symbols<'_>,
            ) -> Result<Self, &'static str> {
                // SAFETY: the signatures are the library's, as the caller promises.
                unsafe {
                    Ok($name {
                        $($field: symbols.get($symbol).ok_or($symbol)?,)*
                        $($newer: symbols.get($newer_symbol),)*
                    })
                }
            }
        }
    };
}
pub(crate) use functions;

/// Whether this program brings its C library: with that of the machine, which every library here wants, there
/// would be two of them, perhaps of two versions.
const IS_STATIC: bool = cfg!(target_feature = "crt-static");
const OPENS_NONE: &str = "this program is linked statically, and opens none";

/// A library that this machine may have.
pub(crate) struct System<F: 'static> {
    wanted: Wanted,
    /// The version it tells, nothing where it does not, or what is wrong with it.
    version: fn(&F) -> Result<String, String>,
    /// A version, and the licence of those before it, where it was another.
    former: Option<(&'static str, &'static str)>,
    loaded: OnceLock<Result<Loaded<F>, String>>,
}

struct Loaded<F> {
    functions: F,
    opened: Opened,
}

impl<F: Functions> System<F> {
    pub(crate) const fn new(
        name: &'static str,
        files: &'static [&'static str],
        package: &'static str,
        version: fn(&F) -> Result<String, String>,
    ) -> System<F> {
        let wanted = Wanted { name, files, package };
        System { wanted, version, former: None, loaded: OnceLock::new() }
    }

    /// The same, under `licence` before `version`.
    pub(crate) const fn before(mut self, version: &'static str, licence: &'static str) -> Self {
        self.former = Some((version, licence));
        self
    }

    /// The licence of its version, where that is another than today's.
    pub(crate) fn former_licence(&'static self) -> Option<&'static str> {
        let (version, licence) = self.former?;
        is_before(&self.version(), version).then_some(licence)
    }

    /// Its functions, or why it is not here.
    pub(crate) fn get(&'static self) -> Result<&'static F, &'static str> {
        match self.loaded.get_or_init(|| self.load()) {
            Ok(loaded) => Ok(&loaded.functions),
            Err(why) => Err(why),
        }
    }

    /// The version it tells.
    pub(crate) fn version(&'static self) -> String {
        match self.loaded.get_or_init(|| self.load()) {
            Ok(loaded) => loaded.opened.version.clone(),
            Err(_) => "not here".to_owned(),
        }
    }

    fn load(&self) -> Result<Loaded<F>, String> {
        let mut functions = None;
        let opened = self.wanted.load(&mut |symbols| {
            // SAFETY: its name, or who chose it, promises that it is this library; signatures are those of
            // its public headers.
            let found = unsafe { F::find(symbols) }.map_err(|symbol| format!("has no {symbol}"))?;
            let told = (self.version)(&found)?;
            functions = Some(found);
            Ok(told)
        })?;
        let functions = functions.expect("what was opened was looked at");
        Ok(Loaded { functions, opened })
    }
}

/// What is looked for.
struct Wanted {
    /// What users call it.
    name: &'static str,
    /// Its files, the one that is wanted most first. The number in a name promises the interface.
    files: &'static [&'static str],
    /// The package of Debian that brings it; empty where there is none.
    package: &'static str,
}

/// A library that is open for good.
struct Opened {
    version: String,
    file: String,
}

/// Looks at what a library offers: the version it tells, nothing where it does not, or what is wrong with it.
type Look<'l> = dyn FnMut(&Symbols<'_>) -> Result<String, String> + 'l;

impl Wanted {
    fn load(&self, look: &mut Look<'_>) -> Result<Opened, String> {
        let name = self.name;
        match chosen(name) {
            Some(Choice::File(_)) if IS_STATIC => Err(format!("{name}: {OPENS_NONE}")),
            Some(Choice::File(file)) => self.found(&file, look),
            Some(Choice::None) => Err(format!("{name} is left out by --library {name}=none")),
            None if IS_STATIC => Err(format!("{name} is a library of the machine: {OPENS_NONE}")),
            None => self.searched(look),
        }
    }

    /// A file that the user names.
    fn found(&self, file: &Path, look: &mut Look<'_>) -> Result<Opened, String> {
        opened(file)
            .map_err(|why| format!("it {why}"))
            .and_then(|library| self.checked(library, look))
            .map_err(|why| format!("{} in {}: {why}", self.name, file.display()))
    }

    /// The first file in the folders that the user names: its figures are not to be another's. Without one the first that
    /// the loader finds and is what it should be; else what was wrong with the first.
    fn searched(&self, look: &mut Look<'_>) -> Result<Opened, String> {
        if let Some(file) = places(self.files).find(|file| file.exists()) {
            return self.found(&file, look);
        }
        let mut wrong = None;
        for file in self.files {
            let is_missing = |why: &String| why.contains(file) && why.contains(NO_FILE);
            match opened(Path::new(file)).and_then(|library| self.checked(library, look)) {
                Ok(opened) => return Ok(opened),
                Err(why) if !is_missing(&why) => drop(wrong.get_or_insert(why)),
                Err(_) => {}
            }
        }
        let Wanted { name, package, .. } = self;
        let packaged =
            if package.is_empty() { String::new() } else { format!(" (Debian: {package})") };
        Err(match wrong {
            Some(why) => {
                format!("{name} of this machine {why}; --library {name}=FILE names another")
            }
            None => {
                let file = self.files[0];
                format!("{file} is not on this machine{packaged}; --library {name}=FILE names one")
            }
        })
    }

    fn checked(&self, library: Library, look: &mut Look<'_>) -> Result<Opened, String> {
        let handle = library.into_raw();
        let file = file_of(handle).unwrap_or_else(|| self.name.to_owned());
        // SAFETY: the handle is that of above, which nobody else has.
        let library = unsafe { Library::from_raw(handle) };
        let in_name = version_of(&file);
        let number = in_name.split('.').next().unwrap_or_default();
        let told = look(&Symbols { library: &library, number })?;
        // Open for good from here on: its functions are called as long as the process lives.
        let _ = library.into_raw();
        let version = match (&told[..], in_name.contains('.')) {
            ("", true) => in_name,
            // The number of its interface alone.
            ("", false) => "not told".to_owned(),
            _ => told,
        };
        Ok(Opened { version, file })
    }
}

impl<F: Functions> Named for System<F> {
    fn name(&self) -> &'static str {
        self.wanted.name
    }

    fn found(&self) -> Option<Result<&str, &str>> {
        let loaded = self.loaded.get()?.as_ref();
        Some(loaded.map(|loaded| loaded.opened.file.as_str()).map_err(String::as_str))
    }

    fn ensure(&'static self) -> Result<(), &'static str> {
        self.get().map(drop)
    }
}

/// Where a library may be in the folders that the user names.
fn places(files: &'static [&'static str]) -> impl Iterator<Item = PathBuf> {
    let folders = std::env::var_os(PATH).unwrap_or_default();
    let folders: Vec<PathBuf> =
        std::env::split_paths(&folders).filter(|folder| !folder.as_os_str().is_empty()).collect();
    folders.into_iter().flat_map(move |folder| files.iter().map(move |file| folder.join(file)))
}

/// What the loader says of a file, or of what it needs, that is nowhere.
const NO_FILE: &str = "No such file";

/// The error is what the loader said, where it said anything.
fn opened(file: &Path) -> Result<Library, String> {
    // SAFETY: libraries of these names do nothing at their start but look at the processor and get
    // themselves ready; whoever names another file answers for it.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) };
    library.map_err(|error| {
        let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        format!("cannot be opened ({cause})")
    })
}

/// The file that an open library came from.
#[cfg(target_env = "gnu")]
fn file_of(handle: *mut c_void) -> Option<String> {
    /// The part of `struct link_map` of `link.h` that programs may read.
    #[repr(C)]
    struct Map {
        address: usize,
        name: *const c_char,
    }
    let mut map: *const Map = std::ptr::null();
    // SAFETY: the handle is open; the answer is a pointer to its map, whose name ends with a zero.
    unsafe {
        let into = (&raw mut map).cast::<c_void>();
        let done = libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, into);
        let name = (done == 0 && !map.is_null()).then(|| (*map).name).filter(|n| !n.is_null())?;
        Some(CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

/// Programs with another C library are linked with all of it, and open no library.
#[cfg(not(target_env = "gnu"))]
fn file_of(_: *mut c_void) -> Option<String> {
    None
}

/// The version in the name of a library's file: `2.0.30` of `libisal.so.2.0.30`.
fn version_of(file: &str) -> String {
    let whole = Path::new(file).canonicalize().unwrap_or_else(|_| file.into());
    let whole = whole.to_string_lossy();
    let number = whole.rsplit_once(".so.").map_or("0", |(_, number)| number);
    number.to_owned()
}

/// The text that a library gives of itself, up to the first blank or comma: a version.
///
/// # Safety
/// The text ends with a zero and is never changed.
pub(super) unsafe fn told(text: *const c_char) -> Result<String, String> {
    if text.is_null() {
        return Err("does not tell its version".to_owned());
    }
    // SAFETY: see above.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let version =
        text.split([' ', ',']).find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    version.map(str::to_owned).ok_or_else(|| format!("tells {text:?} as its version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers() {
        for (older, newer) in [("72.1", "74"), ("1.1.1w", "3"), ("5.4.1", "5.6"), ("5.9", "5.10")] {
            assert!(is_before(older, newer) && !is_before(newer, older), "{older}");
        }
        assert!(!is_before("3.0.22", "3") && !is_before("5.6.0", "5.6"));
    }
}
