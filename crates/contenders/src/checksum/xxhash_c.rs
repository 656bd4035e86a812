//! The C library xxHash, which `xxhsum` is made of: that of the system where it has one that chooses its
//! vectors when it runs (`libxxhash.so.0`), else the one the crate `xxhash-c-sys` brings, compiled for
//! every processor of the architecture.

use std::ffi::{CStr, c_void};
use std::sync::LazyLock;

use fathom_measure::contender::{Meta, Origin, Path, Simple};

use super::workload::{Buffer, Operation};

pub(super) static XXHASH_C: Simple<Buffer> = Simple {
    meta: Meta {
        name: "xxhash-c",
        origin: Origin::Library("xxHash", || {
            let number = LIBRARY.version;
            format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100)
        }),
        licence: "BSD-2-Clause",
        link: "https://xxhash.com",
        hardware: |operation| match operation {
            // Its four lanes are one chain of multiplications each: nobody vectorises one message.
            "xxhash32" => Path::Portable,
            _ if LIBRARY.dispatches => Path::NotKnown,
            _ => Path::compiled(operation),
        },
        ..Meta::of(include_str!("xxhash_c.rs"))
    },
    prepare: |workload| {
        let library = &*LIBRARY;
        match workload.operation {
            // SAFETY: the function reads as many bytes as the slice has.
            Operation::Xxhash32 => workload
                .foreign(|bytes| unsafe { (library.xxh32)(bytes.as_ptr().cast(), bytes.len(), 0) }),
            // SAFETY: the function reads as many bytes as the slice has.
            Operation::Xxh3 => workload
                .foreign(|bytes| unsafe { (library.xxh3)(bytes.as_ptr().cast(), bytes.len()) }),
            _ => workload.operation.unsupported(),
        }
    },
};

type Xxh32 = unsafe extern "C" fn(*const c_void, usize, u32) -> u32;
type Xxh3 = unsafe extern "C" fn(*const c_void, usize) -> u64;

struct Library {
    xxh32: Xxh32,
    xxh3: Xxh3,
    version: u32,
    dispatches: bool,
}

static LIBRARY: LazyLock<Library> = LazyLock::new(|| of_the_system().unwrap_or_else(bundled));

fn of_the_system() -> Option<Library> {
    // SAFETY: the name ends with a zero; the library's initialisation only asks the processor what it
    // has. It stays loaded, so its functions stay where they are.
    let library = unsafe { libc::dlopen(c"libxxhash.so.0".as_ptr(), libc::RTLD_NOW) };
    if library.is_null() {
        return None;
    }
    let find = |name: &CStr| {
        // SAFETY: the library is open and the name ends with a zero.
        let found = unsafe { libc::dlsym(library, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    };
    let (xxh32, version) = (find(c"XXH32")?, find(c"XXH_versionNumber")?);
    let xxh3 = find(c"XXH3_64bits_dispatch")?;
    // SAFETY: these are the signatures of xxhash.h and xxh_x86dispatch.h, which the number after `.so`
    // promises to keep.
    unsafe {
        let version = std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> u32>(version);
        Some(Library {
            xxh32: std::mem::transmute::<*mut c_void, Xxh32>(xxh32),
            xxh3: std::mem::transmute::<*mut c_void, Xxh3>(xxh3),
            version: version(),
            dispatches: true,
        })
    }
}

fn bundled() -> Library {
    Library {
        xxh32: xxhash_c_sys::XXH32,
        xxh3: xxhash_c_sys::XXH3_64bits,
        // SAFETY: returns a constant.
        version: unsafe { xxhash_c_sys::XXH_versionNumber() },
        dispatches: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_libraries_agree_with_the_plain_code() {
        for library in of_the_system().into_iter().chain([bundled()]) {
            let bytes = crate::mix::random(1, 3000);
            for length in (0..600).chain([1024, 3000]) {
                // SAFETY: as many bytes are there.
                let found = unsafe {
                    let at = bytes.as_ptr().cast();
                    ((library.xxh32)(at, length, 0), (library.xxh3)(at, length))
                };
                let bytes = &bytes[..length];
                assert_eq!(found.0, super::super::reference::xxhash32(bytes), "{length}");
                assert_eq!(found.1, super::super::xxh3::xxh3(bytes), "{length}");
            }
        }
    }
}
