//! Expressions over a record's arguments: `id=7`, `px>3.5 and not args.user~"bob*"`.
//!
//! ```text
//! expression = all { ("or" | "||") all }
//! all        = one { ("and" | "&&") one }
//! one        = ("not" | "!") one | "(" expression ")" | path [ operator literal ]
//! operator   = "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"
//! path       = [ "args." | "context." ] name { "." name | "[" index "]" }
//!                                                       name: also `arg0`, `arg1` … (or `args[0]`) where arguments have no names
//! literal    = "text in quotes, \" and \\ escaped" | word
//! ```
//!
//! A name that no argument has is that of a field of the record's context; with `context.` before it it is always.
//!
//! A literal that is written as a number is compared as one: with numbers, and with texts that are numbers.
//! So `port>1000` also matches the text "8080". Any other value is neither less nor greater nor equal, and
//! `!=` holds. In quotes it is a text.
//!
//! A path alone asks whether the argument exists. `~` matches a pattern with `*` and `?`. A path that ends at a container matches
//! when any value within it does. A comparison with an argument that does not exist is false, `!=` and `!~` too.

/// Nesting of parentheses and `not`.
const MAX_DEPTH: usize = 64;

/// What a record must satisfy.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// Both.
    And(Box<Expression>, Box<Expression>),
    /// One or both.
    Or(Box<Expression>, Box<Expression>),
    /// Not.
    Not(Box<Expression>),
    /// The value at a path.
    Test(Test),
}

/// A comparison of the value at a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Argument name or position, then fields, map keys or positions.
    pub path: Vec<String>,
    /// How to compare.
    pub operator: Operator,
    /// With what.
    pub literal: Literal,
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// There is a value.
    Exists,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `~`: matches the pattern.
    Like,
    /// `!~`
    NotLike,
}

/// The value to compare with, in each form that it can have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Literal {
    /// As it stands (quotes taken off).
    pub text: String,
    /// As an integer: decimal, or hexadecimal after `0x`.
    pub integer: Option<i128>,
    /// As a number.
    pub number: Option<f64>,
}

impl Literal {
    fn word(text: &str) -> Self {
        let (integer, number) = numbers(text);
        Self { text: text.to_owned(), integer, number }
    }

    /// Whether it is written as a number: then it is compared with numbers alone. (`nan` and `inf` are words.)
    pub(super) fn is_number(&self) -> bool {
        self.number.is_some() && self.text.contains(|c: char| c.is_ascii_digit())
    }

    fn quoted(text: String) -> Self {
        Self { text, integer: None, number: None }
    }
}

/// What a word is as an integer (decimal, or hexadecimal after `0x`) and as a number.
pub(super) fn numbers(text: &str) -> (Option<i128>, Option<f64>) {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let hex = digits.strip_prefix("0x").and_then(|d| i128::from_str_radix(d, 16).ok());
    let integer = hex.map(|n| if negative { -n } else { n }).or_else(|| text.parse().ok());
    (integer, integer.map(|n| n as f64).or_else(|| text.parse().ok()))
}

impl std::fmt::Display for Expression {
    /// As it can be read again, which gives the same.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Chains are read from the left; without parentheses there they need no depth.
        match self {
            Self::And(left, right) => {
                match **left {
                    Self::Or(..) => write!(f, "({left})")?,
                    _ => write!(f, "{left}")?,
                }
                match **right {
                    Self::Or(..) | Self::And(..) => write!(f, " and ({right})"),
                    _ => write!(f, " and {right}"),
                }
            }
            Self::Or(left, right) => match **right {
                Self::Or(..) => write!(f, "{left} or ({right})"),
                _ => write!(f, "{left} or {right}"),
            },
            Self::Not(inner) => match **inner {
                Self::Test(_) | Self::Not(_) => write!(f, "not {inner}"),
                _ => write!(f, "not ({inner})"),
            },
            Self::Test(test) => write!(f, "{test}"),
        }
    }
}

impl std::fmt::Display for Test {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("args")?;
        for (number, name) in self.path.iter().enumerate() {
            // Only what is not the first may stand in brackets, and must if it is no name.
            let is_name = !name.is_empty() && !name.contains(ends_name);
            match is_name || number == 0 {
                true => write!(f, ".{name}")?,
                false => write!(f, "[{name}]")?,
            }
        }
        let operator = match self.operator {
            Operator::Exists => return Ok(()),
            Operator::Equal => "=",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Like => "~",
            Operator::NotLike => "!~",
        };
        let Literal { text, integer, number } = &self.literal;
        match integer.is_some() || number.is_some() {
            true => write!(f, "{operator}{text}"),
            false => write!(f, "{operator}\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        }
    }
}

/// A malformed expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// Column of the place, from 1, in characters.
    pub column: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl std::fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "column {}: expected {}", self.column, self.expected)
    }
}

impl std::error::Error for ExpressionError {}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// With the column, and what was expected there.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let expression = parser.any()?;
        parser.skip_spaces();
        if parser.at < text.len() {
            return Err(parser.error("'and', 'or' or the end"));
        }
        Ok(expression)
    }
}

impl Expression {
    /// That the message contains a text, with `*` and `?`.
    pub fn message_contains(text: &str) -> Self {
        let literal = Literal::quoted(format!("*{text}*"));
        Self::Test(Test { path: vec!["message".to_owned()], operator: Operator::Like, literal })
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Invariant: a character boundary.
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, expected: &'static str) -> ExpressionError {
        ExpressionError { column: self.text[..self.at].chars().count() + 1, expected }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, mark: &str) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(mark);
        self.at += if found { mark.len() } else { 0 };
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let rest = self.rest();
        let found = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
            && rest[word.len()..].chars().next().is_none_or(|c| c.is_whitespace() || c == '(');
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn any(&mut self) -> Result<Expression, ExpressionError> {
        let mut left = self.all()?;
        while self.take("||") || self.take_word("or") {
            left = Expression::Or(Box::new(left), Box::new(self.all()?));
        }
        Ok(left)
    }

    fn all(&mut self) -> Result<Expression, ExpressionError> {
        let mut left = self.one()?;
        while self.take("&&") || self.take_word("and") {
            left = Expression::And(Box::new(left), Box::new(self.one()?));
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Expression, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("at most 64 nested parentheses"));
        }
        let expression = if self.take_word("not") || self.take("!") {
            Expression::Not(Box::new(self.one()?))
        } else if self.take("(") {
            let inner = self.any()?;
            if !self.take(")") {
                return Err(self.error("')'"));
            }
            inner
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn test(&mut self) -> Result<Expression, ExpressionError> {
        let path = self.path()?;
        const OPERATORS: [(&str, Operator); 9] = [
            ("==", Operator::Equal),
            ("=", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("!~", Operator::NotLike),
            ("<=", Operator::LessOrEqual),
            ("<", Operator::Less),
            (">=", Operator::GreaterOrEqual),
            (">", Operator::Greater),
            ("~", Operator::Like),
        ];
        let found = OPERATORS.iter().find(|(mark, _)| self.take(mark));
        let Some(&(_, operator)) = found else {
            return Ok(Expression::Test(Test {
                path,
                operator: Operator::Exists,
                literal: Literal::default(),
            }));
        };
        let literal = self.literal()?;
        Ok(Expression::Test(Test { path, operator, literal }))
    }

    fn path(&mut self) -> Result<Vec<String>, ExpressionError> {
        self.skip_spaces();
        let mut path = Vec::new();
        loop {
            let len = self.rest().find(ends_name).unwrap_or(self.rest().len());
            if len == 0 {
                return Err(self.error("the name of an argument"));
            }
            path.push(self.rest()[..len].to_owned());
            self.at += len;
            while self.rest().starts_with('[') {
                self.at += 1;
                let Some(end) = self.rest().find(']') else { return Err(self.error("']'")) };
                path.push(self.rest()[..end].to_owned());
                self.at += end + 1;
            }
            if !self.rest().starts_with('.') {
                break;
            }
            self.at += 1;
        }
        if path.len() > 1 && path[0] == "args" {
            path.remove(0);
        }
        Ok(path)
    }

    fn literal(&mut self) -> Result<Literal, ExpressionError> {
        self.skip_spaces();
        if !self.rest().starts_with('"') {
            let rest = self.rest();
            let ends = |tail: &str| {
                tail.starts_with(|c: char| c.is_whitespace() || c == ')')
                    || tail.starts_with("||")
                    || tail.starts_with("&&")
            };
            let len =
                rest.char_indices().map(|(at, _)| at).find(|at| ends(&rest[*at..])).unwrap_or(rest.len());
            if len == 0 {
                return Err(self.error("a value"));
            }
            let literal = Literal::word(&self.rest()[..len]);
            self.at += len;
            return Ok(literal);
        }
        self.at += 1;
        let mut value = String::new();
        let mut escaped = false;
        for (at, c) in self.rest().char_indices() {
            match c {
                _ if escaped => {
                    value.push(c);
                    escaped = false;
                }
                '\\' => escaped = true,
                '"' => {
                    self.at += at + 1;
                    return Ok(Literal::quoted(value));
                }
                _ => value.push(c),
            }
        }
        self.at = self.text.len();
        Err(self.error("'\"'"))
    }
}

/// Ends the name of an argument, unless it stands in brackets.
fn ends_name(c: char) -> bool {
    c.is_whitespace() || "=!<>~()[].&|\"".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expression written out with every parenthesis.
    fn shown(text: &str) -> String {
        fn show(e: &Expression) -> String {
            match e {
                Expression::And(a, b) => format!("({} & {})", show(a), show(b)),
                Expression::Or(a, b) => format!("({} | {})", show(a), show(b)),
                Expression::Not(a) => format!("!{}", show(a)),
                Expression::Test(t) => {
                    format!("{} {:?} {}", t.path.join("/"), t.operator, t.literal.text).trim_end().to_owned()
                }
            }
        }
        show(&Expression::parse(text).unwrap())
    }

    #[test]
    fn precedence() {
        assert_eq!(shown("a=1 or b=2 and not c"), "(a Equal 1 | (b Equal 2 & !c Exists))");
        assert_eq!(shown("(a=1||b=2)&&!c"), "((a Equal 1 | b Equal 2) & !c Exists)");
        assert_eq!(shown("args.user ~ \"b\\\"o *\""), "user Like b\"o *");
        assert_eq!(shown("p.x[3].y>=-1.5e3"), "p/x/3/y GreaterOrEqual -1.5e3");
        assert_eq!(shown("args!=1 and order = x"), "(args NotEqual 1 & order Equal x)");
        assert_eq!(shown("0 == 1"), "0 Equal 1");
    }

    #[test]
    fn an_expression_that_is_written_is_read_as_the_same() {
        for text in [
            "a=1 or b=2 and not c",
            "(a=1||b=2)&&!c",
            "not (a and (b or not not c)) and (d and e)",
            "a or (b or c) or d",
            "args.user ~ \"b\\\"o\\\\ *\"",
            "p.x[3][a.b c].y>=-1.5e3",
            "args!=1 and args.args = x and context.id !~ \"7\"",
            "0 == 0x10 and not.and < 'or'",
        ] {
            let read = Expression::parse(text).unwrap();
            let written = read.to_string();
            assert_eq!(Expression::parse(&written).as_ref(), Ok(&read), "{text}: {written}");
        }
        let long = ["a=1"; 1000].join(" and ");
        let read = Expression::parse(&long).unwrap();
        assert_eq!(Expression::parse(&read.to_string()), Ok(read));
    }

    #[test]
    fn literals() {
        assert_eq!(Literal::word("0xff").integer, Some(255));
        assert_eq!(Literal::word("-0x10").integer, Some(-16));
        assert_eq!(Literal::word("3.5"), Literal { text: "3.5".into(), integer: None, number: Some(3.5) });
        assert_eq!(Literal::word("bob").number, None);
    }

    #[test]
    fn errors_have_columns() {
        for (text, column) in
            [("", 1), ("a=", 3), ("a=1 b", 5), ("(a=1", 5), ("a=\"x", 5), ("=1", 1), ("é= ", 4), ("a[1", 3)]
        {
            assert_eq!(Expression::parse(text).unwrap_err().column, column, "{text}");
        }
        assert!(Expression::parse(&"(".repeat(100_000)).is_err());
        assert!(Expression::parse(&"not ".repeat(100_000)).is_err());
    }
}
