//! Libraries of this machine, opened when the program runs: OpenSSL, zlib and others are there already,
//! and are what other programs call.
//!
//! ```text
//! System        name, files, package, how it tells its version          a static per library
//!    │ get()    chosen file, or FATHOM_LIBRARY_PATH, or the system's loader; symbols looked up; version asked
//!    ▼
//! functions     its foreign functions, and safe methods over them       a file per library, here
//!    ▼
//! Lent          a contender made of it                                  a file per library, in the family
//! ```
//!
//! A library that is not here, lacks a symbol or is too old is *absent*, with one line that says so; it
//! never fails a build or a run. All calls into foreign code are in this folder.

use std::ffi::{c_int, c_void};

use fathom_measure::contender::{Contender, Meta, Preparation, Unsupported};

pub(crate) mod blake3;
pub(crate) mod botan;
pub(crate) mod brotli;
pub(crate) mod bzip2;
mod choice;
pub(crate) mod gcrypt;
pub(crate) mod hyperscan;
pub(crate) mod icu;
pub(crate) mod isal;
pub(crate) mod libdeflate;
pub(crate) mod lizard;
mod loading;
pub(crate) mod lz4;
pub(crate) mod lzma;
pub(crate) mod openssl;
pub(crate) mod pcre2;
pub(crate) mod simdjson;
pub(crate) mod snappy;
pub(crate) mod sodium;
#[cfg(feature = "cpu")]
pub(crate) mod sqlite;
pub(crate) mod wolfssl;
pub(crate) mod xxhash;
pub(crate) mod zlib;
pub(crate) mod zlib_ng;
pub(crate) mod zstd;

pub use choice::{arguments, choose, ensure_usable};
pub(crate) use loading::{System, functions};

/// A library as users name it: in `--library`, and in what is said of it.
trait Named: Sync {
    fn name(&self) -> &'static str;
    /// The file it was opened from, or why it is not here; `None` as long as nobody asked for it.
    fn found(&self) -> Option<Result<&str, &str>>;
    /// Opens it, or says why it is not here.
    fn ensure(&'static self) -> Result<(), &'static str>;
}

/// All of them, in the order of their names.
static ALL: &[&dyn Named] = &[
    &blake3::LIBRARY,
    &botan::LIBRARY,
    &brotli::DECODER,
    &brotli::LIBRARY,
    &bzip2::LIBRARY,
    &gcrypt::LIBRARY,
    &hyperscan::LIBRARY,
    &icu::LIBRARY,
    &isal::LIBRARY,
    &libdeflate::LIBRARY,
    &lizard::LIBRARY,
    &lz4::LIBRARY,
    &lzma::LIBRARY,
    &openssl::LIBRARY,
    &pcre2::LIBRARY,
    &simdjson::LIBRARY,
    &snappy::LIBRARY,
    &sodium::LIBRARY,
    #[cfg(feature = "cpu")]
    &sqlite::LIBRARY,
    &wolfssl::LIBRARY,
    &xxhash::LIBRARY,
    &zlib::LIBRARY,
    &zlib_ng::LIBRARY,
    &zstd::LIBRARY,
];

/// The [`Meta`] of a library: the names of contender and library, the page, the module of `pkg-config` or, without
/// one, the flags, the licence, and what is not usual.
macro_rules! meta {
    (
        $name:literal, $title:literal, $link:literal, $pkg_config:literal, $licence:literal
        $(, $field:ident: $value:expr)*
    ) => {
        pub(crate) const META: fathom_measure::contender::Meta = fathom_measure::contender::Meta {
            name: $name,
            origin: fathom_measure::contender::Origin::Library($title, || LIBRARY.version()),
            link: $link,
            pkg_config: $pkg_config,
            $($field: $value,)*
            ..fathom_measure::contender::Meta::of_crate("", $licence, "")
        };
    };
}
use meta;

/// A contender of a family that is a library of this machine.
pub(crate) struct Lent<W: 'static, F: 'static> {
    /// What is known about it.
    pub(crate) meta: Meta,
    /// The library.
    pub(crate) library: &'static System<F>,
    /// Its levels, if it has any; the one in the middle is the usual one.
    pub(crate) levels: &'static [&'static str],
    /// See [`Contender::prepare`]; the level is 0 where there are none.
    pub(crate) prepare: for<'w> fn(&'static F, c_int, &'w W) -> Preparation<'w>,
}

impl<W: Sync, F: loading::Functions> Contender<W> for Lent<W, F> {
    fn meta(&self) -> Meta {
        let licence = self.library.former_licence().unwrap_or(self.meta.licence);
        Meta { licence, ..self.meta }
    }

    fn absence(&self) -> Option<&'static str> {
        self.library.get().err()
    }

    fn variants(&self) -> &'static [&'static str] {
        self.levels
    }

    fn prepare<'w>(&self, workload: &'w W) -> Preparation<'w> {
        self.prepare_variant(self.levels.get(self.levels.len() / 2).unwrap_or(&"0"), workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w W) -> Preparation<'w> {
        let level = variant.parse().map_err(|_| Unsupported(format!("has no level {variant}")))?;
        let functions = self.library.get().map_err(|why| Unsupported(why.to_owned()))?;
        (self.prepare)(functions, level, workload)
    }
}

/// The [`Lent`] `$name` for workloads of type `$workload`: the library of `system::$library`, whose functions are
/// `$functions`, as the source file `$source` describes it.
macro_rules! lent {
    (
        $name:ident of $workload:ty: $library:ident::$functions:ident, $source:literal
        $(, called $called:literal)? $(, hardware $hardware:expr)?
        $(, levels [$($level:literal),*])?;
        $prepare:expr
    ) => {
        pub(super) static $name: $crate::system::Lent<
            $workload,
            $crate::system::$library::$functions,
        > = $crate::system::Lent {
            meta: fathom_measure::contender::Meta {
                $(name: $called,)?
                $(hardware: $hardware,)?
                source: include_str!($source),
                ..$crate::system::$library::META
            },
            library: &$crate::system::$library::LIBRARY,
            levels: &[$($($level),*)?],
            prepare: $prepare,
        };
    };
}
pub(crate) use lent;

/// Compression of whole buffers, as most libraries have it.
pub(crate) trait Blocks {
    /// The bytes that so many can take at most.
    fn bound(&self, plain: usize) -> usize;
    /// Writes the compressed text: its length, or nothing if there is no room.
    fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize>;
    /// Writes the plain text: its length, or nothing if the payload makes no sense or has no room.
    fn decompress(&mut self, payload: &[u8], into: &mut [u8]) -> Option<usize>;
}

/// A codec at a level.
pub(crate) struct At<F: 'static> {
    pub(crate) library: &'static F,
    pub(crate) level: c_int,
}

/// A length as libraries take it that count in `int`; what is longer is cut, and then does not fit.
fn int(length: usize) -> c_int {
    c_int::try_from(length).unwrap_or(c_int::MAX)
}

/// The length that such a library answers with; what is not positive is an error.
fn positive(length: c_int) -> Option<usize> {
    usize::try_from(length).ok().filter(|length| *length > 0)
}

/// An object of a library that is ours, and what frees it; null is left alone.
struct Held<R = ()> {
    object: *mut c_void,
    free: unsafe extern "C" fn(*mut c_void) -> R,
}

impl<R> Held<R> {
    /// # Safety
    /// The object is null, or nobody else frees it and `free` may.
    unsafe fn new(object: *mut c_void, free: unsafe extern "C" fn(*mut c_void) -> R) -> Held<R> {
        Held { object, free }
    }

    fn is_null(&self) -> bool {
        self.object.is_null()
    }

    /// For a call. By a method, for a closure that names the field would own a copy of it alone, and the
    /// object be freed before the closure runs.
    fn object(&self) -> *mut c_void {
        self.object
    }
}

impl<R> Drop for Held<R> {
    fn drop(&mut self) {
        if !self.is_null() {
            // SAFETY: it is ours, as `new` was promised. There is nothing to be done about an error.
            unsafe { (self.free)(self.object) };
        }
    }
}

/// Memory for a state whose size a library tells, at a multiple of 64.
struct Room(Vec<Line>);

#[derive(Clone)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u8; 64]); // the library writes there

impl Room {
    fn of(bytes: usize) -> Room {
        Room(vec![Line([0; 64]); bytes.div_ceil(64)])
    }

    fn start(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each codec of this machine by its name.
    fn codecs() -> Vec<(&'static str, Box<dyn Blocks>)> {
        fn boxed<B: Blocks + 'static>(blocks: B) -> Option<Box<dyn Blocks>> {
            Some(Box::new(blocks))
        }
        fn at<F: loading::Functions>(
            library: &'static System<F>,
            level: c_int,
        ) -> Option<Box<dyn Blocks>>
        where
            At<F>: Blocks,
        {
            boxed(At { library: library.get().ok()?, level })
        }
        let all = [
            ("brotli", brotli::LIBRARY.get().ok().and_then(|found| boxed(found.at(5)?))),
            ("bzip2", at(&bzip2::LIBRARY, 9)),
            ("libdeflate", libdeflate::LIBRARY.get().ok().and_then(|found| boxed(found.at(6)?))),
            ("lizard", at(&lizard::LIBRARY, 17)),
            ("lz4", lz4::LIBRARY.get().ok().and_then(boxed)),
            ("lzma", at(&lzma::LIBRARY, 1)),
            ("snappy", snappy::LIBRARY.get().ok().and_then(boxed)),
            ("zlib", at(&zlib::LIBRARY, 6)),
            ("zlib-ng", at(&zlib_ng::LIBRARY, 6)),
            ("zstd", zstd::LIBRARY.get().ok().and_then(|found| boxed(found.at(3)?))),
        ];
        all.into_iter().filter_map(|(name, codec)| Some((name, codec?))).collect()
    }

    #[test]
    fn codecs_give_back_what_they_took_and_refuse_what_is_none_of_theirs() {
        let plain = crate::mix::printable(1, 3000).repeat(3);
        for (name, mut codec) in codecs() {
            let mut payload = vec![0; codec.bound(plain.len())];
            let length = codec.compress(&plain, &mut payload).expect("room enough");
            payload.truncate(length);
            assert!(length < plain.len(), "{name}: {length}");
            let mut back = vec![0; plain.len()];
            assert_eq!(codec.decompress(&payload, &mut back), Some(plain.len()), "{name}");
            assert!(back == plain, "{name}");
            let mut short = vec![0; plain.len() - 1];
            assert_eq!(codec.decompress(&payload, &mut short), None, "{name}: no room");
            for cut in [0, 1, length / 2, length - 1] {
                let found = codec.decompress(&payload[..cut], &mut back);
                assert!(found.is_none_or(|found| found < plain.len()), "{name}: cut at {cut}");
            }
            let mut small = [0; 16];
            assert_eq!(codec.compress(&plain, &mut small), None, "{name}: no room");
        }
    }

    #[test]
    fn names_are_in_order_and_each_is_settled_by_asking() {
        let names: Vec<&str> = ALL.iter().map(|library| library.name()).collect();
        assert!(names.is_sorted(), "{names:?}");
        assert!(zlib::LIBRARY.get().is_ok() == zlib::LIBRARY.found().is_some_and(|f| f.is_ok()));
        let said = arguments();
        assert!(said.iter().any(|argument| argument.starts_with("--library=zlib=")), "{said:?}");
    }
}
