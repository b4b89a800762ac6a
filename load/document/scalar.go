package document

import (
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// scalar applies the table of §2.1 to one scalar.
func (c *converter) scalar(y *yaml.Node) (*Node, error) {
	n := &Node{Line: y.Line}
	tagged := y.Style&yaml.TaggedStyle != 0
	if y.Style&^yaml.TaggedStyle != 0 && !tagged || tagged && y.Tag == "!!str" {
		n.Kind, n.Text = KindString, y.Value
		return n, nil
	}
	n.Kind, n.Text = plain(y.Value)
	if n.Kind == KindFloat && n.Text == "" {
		return nil, c.fail(y.Line, "is not a finite number; quote it if it is text")
	}
	if tagged && y.Tag != [...]string{KindNull: "!!null", KindBool: "!!bool", KindInt: "!!int", KindFloat: "!!float", KindString: ""}[n.Kind] {
		return nil, c.fail(y.Line, "has a tag (!) that is not supported here; quote the value if it is text")
	}
	return n, nil
}

// plain gives kind and JSON literal (text for a string) of an unquoted scalar. A
// number that is not finite is a KindFloat without literal.
func plain(s string) (Kind, string) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return KindNull, "null"
	case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y":
		return KindBool, "true"
	case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N":
		return KindBool, "false"
	case ".nan", ".NaN", ".NAN":
		return KindFloat, ""
	}
	switch s[0] {
	case '+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return number(s)
	}
	return KindString, s
}

// number reads a decimal number as YAML writes it; what is none is a string.
func number(s string) (Kind, string) {
	body := strings.TrimLeft(s[:1], "+-") + s[1:]
	switch body {
	case ".inf", ".Inf", ".INF":
		return KindFloat, ""
	}
	whole, rest := digits(body)
	if whole > 0 && rest == "" {
		if kind, lit := integer(s, body); kind != 0 {
			return kind, lit
		}
	} else if !fraction(whole, rest) {
		return KindString, s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return KindFloat, ""
	}
	return KindFloat, floatLiteral(f)
}

// integer gives the literal of a whole number that an int64 or uint64 holds.
func integer(s, body string) (Kind, string) {
	if s[0] == '-' {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return KindInt, strconv.FormatInt(i, 10)
		}
		return 0, ""
	}
	if u, err := strconv.ParseUint(body, 10, 64); err == nil {
		return KindInt, strconv.FormatUint(u, 10)
	}
	return 0, ""
}

// fraction tells whether rest is what may follow the whole digits of a number:
// a point with digits on one side of it at least, an exponent, or both.
func fraction(whole int, rest string) bool {
	if tail, ok := strings.CutPrefix(rest, "."); ok {
		n, after := digits(tail)
		whole, rest = whole+n, after
	}
	if whole == 0 {
		return false
	}
	if rest == "" {
		return true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}
	n, after := digits(rest)
	return n > 0 && after == ""
}

// digits counts the leading decimal digits and gives what follows them.
func digits(s string) (int, string) {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n, s[n:]
}

// floatLiteral is the shortest JSON literal that still shows that it is no integer.
func floatLiteral(f float64) string {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	s := strconv.FormatFloat(f, format, -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
