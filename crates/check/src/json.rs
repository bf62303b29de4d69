//! A strict reader of JSON (strings without escapes: no file read here needs them).

/// A JSON value; objects may not repeat a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Containers nested deeper than this are refused.
const MAX_DEPTH: usize = 32;

impl Json {
    pub(crate) fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at < reader.bytes.len() { Err(reader.error("nothing more")) } else { Ok(value) }
    }

    /// The value of `key`.
    pub(crate) fn field(&self, key: &str) -> Result<&Json, String> {
        self.get(key).ok_or_else(|| format!("the field `{key}` is missing"))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        let Json::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn list(&self) -> Result<&[Json], String> {
        if let Json::List(list) = self { Ok(list) } else { Err("expected a list".into()) }
    }

    pub(crate) fn number(&self) -> Result<f64, String> {
        if let Json::Number(x) = self { Ok(*x) } else { Err("expected a number".into()) }
    }

    /// A whole number from 0 to 2^32 - 1.
    pub(crate) fn index(&self) -> Result<usize, String> {
        let x = self.number()?;
        let whole = x >= 0.0 && x <= f64::from(u32::MAX) && x.fract() == 0.0;
        if whole { Ok(x as usize) } else { Err(format!("expected a whole number, found {x}")) }
    }

    pub(crate) fn indices(&self) -> Result<Vec<usize>, String> {
        self.list()?.iter().map(Json::index).collect()
    }

    /// -1 or +1.
    pub(crate) fn spin(&self) -> Result<i8, String> {
        let x = self.number()?;
        if x.abs() == 1.0 { Ok(x as i8) } else { Err(format!("expected -1 or 1, found {x}")) }
    }

    pub(crate) fn spins(&self) -> Result<Vec<i8>, String> {
        self.list()?.iter().map(Json::spin).collect()
    }

    /// Refuses keys outside `known`: a misspelt one would be a silent loss.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), String> {
        let Json::Object(entries) = self else { return Err("expected an object".into()) };
        match entries.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => Err(format!("unknown field `{name}`")),
            None => Ok(()),
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn error(&self, wanted: &str) -> String {
        format!("JSON: expected {wanted} at byte {}", self.at)
    }

    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        let found = self.bytes[self.at..].starts_with(token.as_bytes());
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return Err(self.error("less nesting"));
        }
        if self.eat("[") {
            let mut list = Vec::new();
            self.items("]", |reader| reader.value(depth + 1).map(|v| list.push(v)))?;
            return Ok(Json::List(list));
        }
        if self.eat("{") {
            let mut entries: Vec<(String, Json)> = Vec::new();
            self.items("}", |reader| {
                let key = reader.text()?;
                let fresh = entries.len() < 64 && entries.iter().all(|(name, _)| *name != key);
                if !fresh || !reader.eat(":") {
                    return Err(reader.error("a new key and `:`"));
                }
                reader.value(depth + 1).map(|v| entries.push((key, v)))
            })?;
            return Ok(Json::Object(entries));
        }
        match self.bytes.get(self.at) {
            Some(b'"') => Ok(Json::Text(self.text()?)),
            Some(b'-' | b'0'..=b'9') => self.digits(),
            _ if self.eat("null") => Ok(Json::Null),
            _ => Err(self.error("a value")),
        }
    }

    /// Items separated by commas up to `close`.
    fn items(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat(close) {
                return Ok(());
            }
            if !self.eat(",") {
                return Err(self.error("`,` or the end"));
            }
        }
    }

    fn text(&mut self) -> Result<String, String> {
        if !self.eat("\"") {
            return Err(self.error("a string"));
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&c| c == b'"' || c == b'\\' || c < 0x20);
        match length.map(|n| (n, rest[n], std::str::from_utf8(&rest[..n]))) {
            Some((n, b'"', Ok(text))) => {
                self.at += n + 1;
                Ok(text.to_owned())
            }
            _ => Err(self.error("a plain string")),
        }
    }

    fn digits(&mut self) -> Result<Json, String> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().take_while(|c| c.is_ascii_digit() || b"+-.eE".contains(c)).count();
        let token = std::str::from_utf8(&rest[..length]).unwrap_or("");
        match token.parse::<f64>() {
            Ok(x) if x.is_finite() => {
                self.at += length;
                Ok(Json::Number(x))
            }
            _ => Err(self.error("a finite number")),
        }
    }
}
