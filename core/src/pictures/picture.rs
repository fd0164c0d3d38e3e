//! A picture as a data URL, shrunk where a model would not take it whole.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use tenon_tools::FunctionCallError;

/// The longest side of a picture with detail `original`, in pixels.
pub(super) const MAX_SIDE: u32 = 6000;
/// The side of the squares that a picture is counted in, in pixels.
pub(super) const PATCH_SIDE: u32 = 32;
/// How many of them a picture with detail `original` may have.
pub(super) const MAX_PATCHES: u64 = 10_000;
/// The longest side of a picture with detail `high`, in pixels.
pub(crate) const MAX_SIDE_HIGH: u32 = 2048;
/// The largest file that is read.
pub(super) const MAX_FILE_BYTES: u64 = 64 << 20;
/// The most memory that decoding may take.
const MAX_DECODED_BYTES: u64 = 1 << 30;

/// What the model reads in the place of what is no picture.
pub(super) const NO_IMAGE: &str = "unable to process image: invalid or unsupported image data";

/// Reads a picture. With `original` the file's own bytes, unless it is too large; else one that fits detail `high`.
///
/// # Errors
/// When the file cannot be read, or is no picture.
pub(crate) fn data_url(path: &Path, original: bool) -> Result<String, FunctionCallError> {
    url_of(&read(path)?, original)
}

/// As [`data_url`], of the bytes of a file.
///
/// # Errors
/// When they are no picture.
pub(super) fn url_of(bytes: &[u8], original: bool) -> Result<String, FunctionCallError> {
    let no_image = |_| FunctionCallError::respond(NO_IMAGE);
    let format = image::guess_format(bytes).map_err(no_image)?;
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    reader.limits(limits);
    let picture = reader.decode().map_err(no_image)?;
    let size = (picture.width(), picture.height());
    let fitting = if original { fit_original(size) } else { fit_side(size, MAX_SIDE_HIGH) };
    if fitting == size {
        return Ok(url(format, bytes));
    }
    let shrunk = picture.resize_exact(fitting.0, fitting.1, FilterType::Triangle);
    encode(&shrunk, format).map_err(no_image)
}

/// About how much memory [`data_url`] takes for a file, in bytes, as far as its header tells: the file and its text, the
/// picture, and what shrinking makes of it on the way. Nothing is said of a file that cannot be shown.
pub(crate) fn memory_needed(path: &Path, original: bool) -> u64 {
    let Ok(file) = File::open(path) else { return 0 };
    let bytes = file.metadata().map_or(0, |metadata| metadata.len()).min(MAX_FILE_BYTES);
    needed(BufReader::new(file), bytes, original)
}

/// As [`memory_needed`], for the bytes of a file.
pub(super) fn memory_needed_for(bytes: &[u8], original: bool) -> u64 {
    needed(Cursor::new(bytes), u64::try_from(bytes.len()).unwrap_or(u64::MAX), original)
}

fn needed(file: impl BufRead + Seek, bytes: u64, original: bool) -> u64 {
    // Base64 makes four bytes of three.
    let file_and_text = bytes.saturating_add(bytes.div_ceil(3).saturating_mul(4));
    let Ok(reader) = ImageReader::new(file).with_guessed_format() else {
        return file_and_text;
    };
    let Ok(decoder) = reader.into_decoder() else { return file_and_text };
    let size = decoder.dimensions();
    let fitting = if original { fit_original(size) } else { fit_side(size, MAX_SIDE_HIGH) };
    let shrinking = if fitting == size { 0 } else { shrinking_bytes(size, fitting) };
    file_and_text.saturating_add(decoder.total_bytes()).saturating_add(shrinking)
}

/// What shrinking takes: first the height, in four floats a pixel, then the width, in up to sixteen bytes a pixel.
fn shrinking_bytes(from: (u32, u32), to: (u32, u32)) -> u64 {
    const PIXEL_BYTES: u64 = 16;
    let pixels = |width: u32, height: u32| u64::from(width) * u64::from(height);
    pixels(from.0, to.1).saturating_add(pixels(to.0, to.1)).saturating_mul(PIXEL_BYTES)
}

fn read(path: &Path) -> Result<Vec<u8>, FunctionCallError> {
    let failed = |why: String| {
        FunctionCallError::respond(format!("unable to read image at `{}`: {why}", path.display()))
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
        return Err(failed(format!("the file is larger than {MAX_FILE_BYTES} bytes")));
    }
    Ok(bytes)
}

/// The largest size with the same ratio that detail `original` takes (core.md 0.2).
pub(crate) fn fit_original(size: (u32, u32)) -> (u32, u32) {
    let size = fit_side(size, MAX_SIDE);
    if patches(size) <= MAX_PATCHES {
        return size;
    }
    // The number of squares grows with the width, so that the widest that fits can be searched for.
    let (mut fits, mut too_wide) = (1, size.0);
    while too_wide - fits > 1 {
        let middle = fits + (too_wide - fits) / 2;
        if patches(scaled(size, middle)) <= MAX_PATCHES { fits = middle } else { too_wide = middle }
    }
    scaled(size, fits)
}

fn fit_side((width, height): (u32, u32), side: u32) -> (u32, u32) {
    if width <= side && height <= side {
        (width, height)
    } else if width >= height {
        scaled((width, height), side)
    } else {
        let (height, width) = scaled((height, width), side);
        (width, height)
    }
}

/// The size with another width and the same ratio.
fn scaled((width, height): (u32, u32), to_width: u32) -> (u32, u32) {
    let (width, height, wanted) = (u64::from(width.max(1)), u64::from(height), u64::from(to_width));
    let scaled_height = (height * wanted + width / 2) / width;
    (to_width, u32::try_from(scaled_height).unwrap_or(u32::MAX).max(1))
}

fn patches((width, height): (u32, u32)) -> u64 {
    u64::from(width.div_ceil(PATCH_SIDE)) * u64::from(height.div_ceil(PATCH_SIDE))
}

fn encode(picture: &DynamicImage, format: ImageFormat) -> Result<String, image::ImageError> {
    // A moving picture has one size for all its frames: what is shrunk stands still.
    let format = if format == ImageFormat::Gif { ImageFormat::Png } else { format };
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format)?;
    Ok(url(format, bytes.get_ref()))
}

fn url(format: ImageFormat, bytes: &[u8]) -> String {
    format!("data:{};base64,{}", format.to_mime_type(), STANDARD.encode(bytes))
}
