//! Numbers drawn with characters: a line of eighths for a terminal that can show them, and of ASCII signs for one that cannot.

/// What a chart may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// `▁▂▃▄▅▆▇█`
    Unicode,
    /// `.:-=+*#@`
    Ascii,
}

/// How a number becomes a height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Half the number, half the height.
    Linear,
    /// Ten times the number, one step more: what is rare stays visible.
    Logarithmic,
}

const STEPS: usize = 8;

impl Signs {
    fn steps(self) -> [char; STEPS] {
        match self {
            Self::Unicode => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Self::Ascii => ['.', ':', '-', '=', '+', '*', '#', '@'],
        }
    }

    /// One sign a number, as high as it is; a blank for 0.
    pub(super) fn spark(self, numbers: &[u64], scale: Scale) -> String {
        let greatest = numbers.iter().copied().max().unwrap_or(0);
        let sign = |number: u64| match share(number, greatest, scale) {
            None => ' ',
            Some(share) => self.steps()[((share * STEPS as f64).ceil() as usize).clamp(1, STEPS) - 1],
        };
        numbers.iter().map(|number| sign(*number)).collect()
    }

    /// A bar of at most `width` signs, with at least something for a number that is not 0.
    pub(super) fn bar(self, number: u64, greatest: u64, width: usize, scale: Scale) -> String {
        let Some(share) = share(number, greatest, scale) else { return String::new() };
        match self {
            Self::Unicode => {
                // The last character stands for up to seven eighths of its width.
                const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
                let eighths = ((share * (width * 8) as f64).round() as usize).max(1);
                "█".repeat(eighths / 8) + PARTS[eighths % 8]
            }
            Self::Ascii => "#".repeat(((share * width as f64).round() as usize).max(1)),
        }
    }
}

/// Part of the greatest, above 0 and up to 1; `None` for 0.
fn share(number: u64, greatest: u64, scale: Scale) -> Option<f64> {
    let number = number.min(greatest);
    match scale {
        _ if number == 0 => None,
        Scale::Linear => Some(number as f64 / greatest as f64),
        // One counts as something: its logarithm would be nothing.
        Scale::Logarithmic => Some(((number as f64).ln() + 1.0) / ((greatest as f64).ln() + 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparks_rise_with_numbers() {
        assert_eq!(Signs::Unicode.spark(&[0, 1, 4, 8], Scale::Linear), " ▁▄█");
        assert_eq!(Signs::Ascii.spark(&[0, 1, 4, 8], Scale::Linear), " .=@");
        assert_eq!(Signs::Ascii.spark(&[0, 1, 1_000_000], Scale::Logarithmic), " .@");
        assert_eq!(Signs::Ascii.spark(&[0, 0], Scale::Linear), "  ");
        assert_eq!(Signs::Unicode.spark(&[u64::MAX, 1], Scale::Linear), "█▁");
    }

    #[test]
    fn bars_have_at_least_something() {
        assert_eq!(Signs::Ascii.bar(10, 10, 8, Scale::Linear), "########");
        assert_eq!(Signs::Ascii.bar(1, 1000, 8, Scale::Linear), "#");
        assert_eq!(Signs::Unicode.bar(1, 1000, 8, Scale::Linear), "▏");
        assert_eq!(Signs::Unicode.bar(5, 8, 1, Scale::Linear), "▋");
        assert_eq!(Signs::Unicode.bar(0, 8, 4, Scale::Linear), "");
        assert!(Signs::Ascii.bar(10, 1_000_000, 60, Scale::Logarithmic).len() > 10);
    }
}
