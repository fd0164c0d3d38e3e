//! English stems: the second version of Porter's algorithm, as Snowball publishes it.
//!
//! ```text
//! step 0, 1a, 1b, 1c   plurals, past, `-ing`, final y
//! step 2, 3            derived forms of derived forms
//! step 4, 5            what is left of them
//! ```
//! R1 is what follows the first consonant after a vowel, R2 the same again within R1. A y after a vowel or at the start
//! is a consonant and is written `Y` meanwhile.

/// Words with a stem of their own.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("andes", "andes"),
    ("atlas", "atlas"),
    ("bias", "bias"),
    ("cosmos", "cosmos"),
    ("dying", "die"),
    ("early", "earli"),
    ("gently", "gentl"),
    ("howe", "howe"),
    ("idly", "idl"),
    ("lying", "lie"),
    ("news", "news"),
    ("only", "onli"),
    ("singly", "singl"),
    ("skies", "sky"),
    ("skis", "ski"),
    ("sky", "sky"),
    ("tying", "tie"),
    ("ugly", "ugli"),
];
/// Words that stay as they are after step 1a.
const KEPT_AFTER_PLURAL: &[&str] =
    &["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"];
/// Beginnings after which R1 starts at once.
const LONG_PREFIXES: &[&str] = &["gener", "commun", "arsen"];
const DOUBLES: &[&str] = &["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"];
/// Step 2, longest first: what ends a word, and what stands there instead if it lies in R1.
const STEP_2: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("fulness", "ful"),
    ("iveness", "ive"),
    ("ization", "ize"),
    ("ousness", "ous"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("tional", "tion"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ation", "ate"),
    ("entli", "ent"),
    ("fulli", "ful"),
    ("iviti", "ive"),
    ("ousli", "ous"),
    ("abli", "able"),
    ("alli", "al"),
    ("anci", "ance"),
    ("ator", "ate"),
    ("enci", "ence"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("ogi", "og"),
    ("li", ""),
];
/// Step 3, longest first. `ative` has to lie in R2.
const STEP_3: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("ative", ""),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];
/// Step 4, longest first: what is dropped from R2. `ion` only after s or t.
const STEP_4: &[&str] = &[
    "ement", "able", "ance", "ence", "ible", "ment", "ant", "ate", "ent", "ion", "ism", "iti", "ive", "ize",
    "ous", "al", "er", "ic",
];

/// The stem of a word in small letters. Words of one or two letters, and words with letters that English has not, are
/// their own stem.
pub(super) fn stem(word: &str) -> String {
    if word.len() <= 2 || !word.is_ascii() {
        return word.to_owned();
    }
    if let Some((_, stem)) = EXCEPTIONS.iter().find(|(exception, _)| *exception == word) {
        return (*stem).to_owned();
    }
    let mut word = Word::new(word);
    word.drop_apostrophe();
    word.step_1a();
    if !KEPT_AFTER_PLURAL.contains(&word.text.as_str()) {
        word.step_1b();
        word.step_1c();
        word.step_2();
        word.step_3();
        word.step_4();
        word.step_5();
    }
    word.text.make_ascii_lowercase();
    word.text
}

/// A word on its way, all ASCII, with `Y` for a y that is a consonant.
struct Word {
    text: String,
    /// Where R1 and R2 begin. They do not move, even where the word becomes shorter.
    r1: usize,
    r2: usize,
}

impl Word {
    fn new(word: &str) -> Self {
        let mut text = String::with_capacity(word.len());
        let mut after_vowel = true;
        for letter in word.strip_prefix('\'').unwrap_or(word).chars() {
            let letter = if letter == 'y' && after_vowel { 'Y' } else { letter };
            after_vowel = is_vowel(letter);
            text.push(letter);
        }
        let prefix = LONG_PREFIXES.iter().find(|prefix| text.starts_with(**prefix));
        let r1 = prefix.map_or_else(|| after_syllable(&text, 0), |prefix| prefix.len());
        let r2 = after_syllable(&text, r1);
        Self { text, r1, r2 }
    }

    fn ends(&self, suffix: &str) -> bool {
        self.text.ends_with(suffix)
    }

    /// What stands before the last `length` letters.
    fn before(&self, length: usize) -> &str {
        self.text.get(..self.text.len().saturating_sub(length)).unwrap_or_default()
    }

    fn in_r1(&self, suffix: &str) -> bool {
        self.text.len() - suffix.len() >= self.r1
    }

    fn in_r2(&self, suffix: &str) -> bool {
        self.text.len() - suffix.len() >= self.r2
    }

    fn replace(&mut self, suffix: &str, with: &str) {
        self.text.truncate(self.text.len() - suffix.len());
        self.text.push_str(with);
    }

    fn drop_apostrophe(&mut self) {
        let found = ["'s'", "'s", "'"].into_iter().find(|suffix| self.ends(suffix));
        if let Some(suffix) = found {
            self.replace(suffix, "");
        }
    }

    fn step_1a(&mut self) {
        if self.ends("sses") {
            self.replace("sses", "ss");
        } else if self.ends("ied") || self.ends("ies") {
            let with = if self.text.len() > 4 { "i" } else { "ie" };
            self.replace("ies", with);
        } else if self.ends("s") && !self.ends("us") && !self.ends("ss") {
            // A vowel somewhere before the letter in front of the s.
            if has_vowel(self.before(2)) {
                self.replace("s", "");
            }
        }
    }

    fn step_1b(&mut self) {
        if let Some(suffix) = ["eedly", "eed"].into_iter().find(|suffix| self.ends(suffix)) {
            if self.in_r1(suffix) {
                self.replace(suffix, "ee");
            }
            return;
        }
        let found = ["ingly", "edly", "ing", "ed"].into_iter().find(|suffix| self.ends(suffix));
        let Some(suffix) = found.filter(|suffix| has_vowel(self.before(suffix.len()))) else { return };
        self.replace(suffix, "");
        if self.ends("at") || self.ends("bl") || self.ends("iz") {
            self.text.push('e');
        } else if DOUBLES.iter().any(|double| self.ends(double)) {
            self.text.pop();
        } else if self.text.len() <= self.r1 && ends_in_short_syllable(&self.text) {
            self.text.push('e');
        }
    }

    fn step_1c(&mut self) {
        let before = self.before(1);
        let ends_in_y = self.ends("y") || self.ends("Y");
        if ends_in_y && before.len() > 1 && !before.ends_with(is_vowel) {
            self.replace("y", "i");
        }
    }

    fn step_2(&mut self) {
        let Some((suffix, with)) = STEP_2.iter().find(|(suffix, _)| self.ends(suffix)) else { return };
        let before = self.before(suffix.len());
        let fits = match *suffix {
            "ogi" => before.ends_with('l'),
            "li" => before.ends_with(['c', 'd', 'e', 'g', 'h', 'k', 'm', 'n', 'r', 't']),
            _ => true,
        };
        if fits && self.in_r1(suffix) {
            self.replace(suffix, with);
        }
    }

    fn step_3(&mut self) {
        let Some((suffix, with)) = STEP_3.iter().find(|(suffix, _)| self.ends(suffix)) else { return };
        if self.in_r1(suffix) && (*suffix != "ative" || self.in_r2(suffix)) {
            self.replace(suffix, with);
        }
    }

    fn step_4(&mut self) {
        let Some(suffix) = STEP_4.iter().find(|suffix| self.ends(suffix)) else { return };
        let fits = *suffix != "ion" || self.before(suffix.len()).ends_with(['s', 't']);
        if fits && self.in_r2(suffix) {
            self.replace(suffix, "");
        }
    }

    fn step_5(&mut self) {
        let before = self.before(1);
        let drops = if self.ends("e") {
            self.in_r2("e") || (self.in_r1("e") && !ends_in_short_syllable(before))
        } else {
            self.ends("l") && self.in_r2("l") && before.ends_with('l')
        };
        if drops {
            self.text.pop();
        }
    }
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

fn has_vowel(text: &str) -> bool {
    text.contains(is_vowel)
}

/// Where the text goes on after the first consonant that follows a vowel, from `start` on.
fn after_syllable(text: &str, start: usize) -> usize {
    let letters = text.char_indices().skip(start);
    let mut after_vowel = false;
    for (place, letter) in letters {
        if after_vowel && !is_vowel(letter) {
            return place + 1;
        }
        after_vowel = is_vowel(letter);
    }
    text.len()
}

/// Whether the text ends in a consonant, a vowel and a consonant that is not w, x or Y; or is a vowel and a consonant.
fn ends_in_short_syllable(text: &str) -> bool {
    let mut letters = text.chars().rev();
    match (letters.next(), letters.next(), letters.next()) {
        (Some(last), Some(vowel), Some(first)) => {
            !is_vowel(last) && !matches!(last, 'w' | 'x' | 'Y') && is_vowel(vowel) && !is_vowel(first)
        }
        (Some(last), Some(vowel), None) => !is_vowel(last) && is_vowel(vowel),
        (Some(_), None, _) | (None, _, _) => false,
    }
}

#[cfg(test)]
#[path = "stem_tests.rs"]
mod tests;
