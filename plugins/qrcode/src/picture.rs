//! Draws a code as pixels or as paths. Invariant: every module is equally large, since
//! scanners measure them.

use std::fmt::Write as _;

use crate::error::DrawError;
use crate::symbol::Symbol;

/// The largest picture, in pixels a side.
pub const MAX_SIZE: u32 = 2048;

/// A PNG of exactly `size` pixels a side, one bit for each.
pub fn to_png(symbol: &Symbol, size: u32) -> Result<Vec<u8>, DrawError> {
    if size > MAX_SIZE {
        return Err(DrawError::TooLarge {
            what: "size",
            value: size,
            limit: MAX_SIZE,
        });
    }
    let scale = size / symbol.side();
    if scale == 0 {
        let least = symbol.side();
        return Err(DrawError::TooSmall {
            size,
            least,
            good: least * 4,
        });
    }
    // What the whole modules leave over becomes margin on all sides.
    let start = (size - scale * symbol.side()) / 2;
    let module_at = |pixel: u32| pixel.checked_sub(start).map(|pixel| pixel / scale);
    let mut pixels = Vec::with_capacity((size.div_ceil(8) * size) as usize);
    for y in 0..size {
        let mut row = vec![0xff_u8; size.div_ceil(8) as usize];
        for x in 0..size {
            if let (Some(column), Some(line)) = (module_at(x), module_at(y))
                && symbol.is_dark(column, line)
            {
                row[(x / 8) as usize] &= !(0x80 >> (x % 8));
            }
        }
        pixels.extend(row);
    }
    encode(size, &pixels).map_err(|error| DrawError::Encoding {
        why: error.to_string(),
    })
}

fn encode(size: u32, pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size, size);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(file)
}

/// An SVG that is `size` pixels a side where nothing scales it.
pub fn to_svg(symbol: &Symbol, size: u32) -> String {
    let modules = symbol.side();
    let mut path = String::new();
    for y in 0..modules {
        let mut x = 0;
        while x < modules {
            let run = (x..modules).take_while(|x| symbol.is_dark(*x, y)).count();
            if run > 0 {
                write!(path, "M{x} {y}h{run}v1h-{run}z").expect("a string takes every text");
            }
            // The module after a run is light.
            x += u32::try_from(run).unwrap_or(modules) + 1;
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{size}\" height=\"{size}\" \
         viewBox=\"0 0 {modules} {modules}\" shape-rendering=\"crispEdges\">\
         <rect width=\"{modules}\" height=\"{modules}\" fill=\"#fff\"/><path d=\"{path}\"/></svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::ErrorCorrection;

    fn symbol(text: &str) -> Symbol {
        Symbol::new(text, ErrorCorrection::Medium, 4).unwrap()
    }

    /// The pixels of a PNG, true for dark.
    fn decode(png: &[u8]) -> (usize, Vec<bool>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(
            (frame.width, frame.color_type),
            (frame.height, png::ColorType::Grayscale)
        );
        pixels.truncate(frame.buffer_size());
        (
            frame.width as usize,
            pixels.into_iter().map(|pixel| pixel < 128).collect(),
        )
    }

    fn scan(side: usize, dark: &[bool]) -> String {
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(side, side, |x, y| {
            if dark[y * side + x] { 0 } else { 255 }
        });
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1);
        grids[0].decode().unwrap().1
    }

    #[test]
    fn a_scanner_reads_the_picture() {
        for text in [
            "https://example.com/?a=1",
            "0123456789",
            "\u{e4}\u{f6}\u{fc} \u{1F980}",
        ] {
            for size in [200, 301] {
                let (side, dark) = decode(&to_png(&symbol(text), size).unwrap());
                assert_eq!(side, size as usize);
                assert_eq!(scan(side, &dark), text);
            }
        }
    }

    #[test]
    fn a_size_that_can_not_show_the_code_is_refused_with_one_that_can() {
        let error = to_png(&symbol("x"), 28).unwrap_err();
        assert_eq!(
            error,
            DrawError::TooSmall {
                size: 28,
                least: 29,
                good: 116
            }
        );
        assert!(to_png(&symbol("x"), 29).is_ok());
        let error = to_png(&symbol("x"), 2049).unwrap_err();
        assert_eq!(
            error,
            DrawError::TooLarge {
                what: "size",
                value: 2049,
                limit: 2048
            }
        );
    }

    #[test]
    fn the_paths_cover_exactly_the_dark_modules() {
        let symbol = symbol("https://example.com");
        let svg = to_svg(&symbol, 300);
        let path = svg.split("d=\"").nth(1).unwrap().split('"').next().unwrap();
        let side = symbol.side() as usize;
        let mut dark = vec![false; side * side];
        for run in path.split_terminator('z') {
            let (place, run) = run.strip_prefix('M').unwrap().split_once('h').unwrap();
            let (x, y) = place.split_once(' ').unwrap();
            let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
            let length: usize = run.split('v').next().unwrap().parse().unwrap();
            assert_eq!(run, format!("{length}v1h-{length}"));
            dark[y * side + x..][..length].fill(true);
        }
        for (index, dark) in dark.into_iter().enumerate() {
            let [x, y] = [index % side, index / side].map(|place| u32::try_from(place).unwrap());
            assert_eq!(dark, symbol.is_dark(x, y), "{x} {y}");
        }
    }
}
