//! The Arrow C data and stream interfaces, as far as columns of text and numbers need them, and the
//! capsules in which Python libraries exchange them (arrow.apache.org/docs/format/CDataInterface.html).

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

mod copied;
pub(crate) mod read;
pub(crate) mod write;

/// A type: of a column, or of a table as a struct of columns.
#[repr(C)]
pub(crate) struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// Flag of a column that may have no value.
const NULLABLE: i64 = 2;

/// The values of a type.
#[repr(C)]
pub(crate) struct ArrayC {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrayC,
    dictionary: *mut ArrayC,
    release: Option<unsafe extern "C" fn(*mut ArrayC)>,
    private_data: *mut c_void,
}

/// Arrays of one type, one after the other.
#[repr(C)]
pub(crate) struct StreamC {
    get_schema: Option<unsafe extern "C" fn(*mut StreamC, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut StreamC, *mut ArrayC) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut StreamC) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut StreamC)>,
    private_data: *mut c_void,
}

impl Schema {
    const EMPTY: Schema = Schema {
        format: ptr::null(),
        name: ptr::null(),
        metadata: ptr::null(),
        flags: 0,
        n_children: 0,
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    };
}

impl ArrayC {
    const EMPTY: ArrayC = ArrayC {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: ptr::null_mut(),
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    };
}

impl StreamC {
    const EMPTY: StreamC = StreamC {
        get_schema: None,
        get_next: None,
        get_last_error: None,
        release: None,
        private_data: ptr::null_mut(),
    };
}

/// A structure of the interface: whoever has it calls its `release`, unless that was done or taken.
macro_rules! released {
    ($($name:ident)*) => {$(
        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: it was not released, which would have emptied the field.
                    unsafe { release(self) };
                }
            }
        }
    )*};
}

released! { Schema ArrayC StreamC }
