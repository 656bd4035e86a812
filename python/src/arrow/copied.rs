//! Columns of layouts that the engine does not read, copied to one that it does.

/// What stands in for a buffer of a column.
#[derive(Default)]
pub(super) enum Copied {
    /// The column is read where it lies.
    #[default]
    Nothing,
    /// Where texts of one length start, and the last of them ends.
    Offsets(Vec<i64>),
    /// Units of `10^-scale` in 128 bits, and the scale.
    Decimals(Vec<[u8; 16]>, u16),
}

/// The offsets of so many texts of so many bytes, behind `before` others.
pub(super) fn offsets(bytes: usize, before: usize, rows: usize) -> Copied {
    Copied::Offsets((before..=before + rows).map(|row| (row * bytes) as i64).collect())
}

/// Decimals of any width, least significant byte first, in units of `10^-scale`.
///
/// # Errors
/// The first row with a value that 128 bits do not hold.
pub(super) fn decimals(
    cells: &[u8],
    bytes: usize,
    scale: i32,
    is_there: impl Fn(usize) -> bool,
) -> Result<Copied, usize> {
    let one = 10_i128.checked_pow(scale.min(0).unsigned_abs());
    let units = |(row, cell)| match is_there(row) {
        true => one.and_then(|one| units(cell)?.checked_mul(one)).ok_or(row),
        // Whatever stands there.
        false => Ok(0),
    };
    let all = cells.chunks_exact(bytes).enumerate().map(units);
    let all: Result<_, usize> = all.map(|units| Ok(units?.to_le_bytes())).collect();
    Ok(Copied::Decimals(all?, scale.max(0) as u16))
}

/// The integer in bytes of any number, least significant first, if 128 bits hold it.
fn units(cell: &[u8]) -> Option<i128> {
    let sign = if cell.last()? & 0x80 == 0 { 0 } else { 0xff };
    let mut units = [sign; 16];
    let (low, high) = cell.split_at(cell.len().min(units.len()));
    units[..low.len()].copy_from_slice(low);
    let units = i128::from_le_bytes(units);
    let fits = high.iter().all(|&byte| byte == sign) && (units < 0) == (sign != 0);
    fits.then_some(units)
}
