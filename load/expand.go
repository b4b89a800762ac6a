package load

import (
	"errors"
	"fmt"
	"strings"

	"simplex/load/schema"
)

// Expand replaces `${NAME}` by the value of that environment variable and `$$` by one
// dollar, in one pass: results are not looked at again. Any other dollar stays. A
// variable that is unset or empty, a missing brace and a bad name are errors, which
// never hold a value.
func Expand(s string, getenv func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String(), nil
		}
		b.WriteString(s[:i])
		switch s[i+1] {
		case '$':
			b.WriteByte('$')
			s = s[i+2:]
		case '{':
			value, rest, err := variable(s[i+2:], getenv)
			if err != nil {
				return "", err
			}
			b.WriteString(value)
			s = rest
		default:
			b.WriteByte('$')
			s = s[i+1:]
		}
	}
}

// variable reads `NAME}` and gives the value and what follows the brace.
func variable(s string, getenv func(string) (string, bool)) (value, rest string, err error) {
	name, rest, closed := strings.Cut(s, "}")
	if !closed {
		return "", "", errors.New("has ${ without }; write $$ for a dollar")
	}
	if !schema.IsName(name) || strings.IndexByte(name, '-') >= 0 {
		return "", "", errors.New("has ${…} with a bad variable name; write $$ for a dollar")
	}
	value, set := getenv(name)
	if !set || value == "" {
		return "", "", fmt.Errorf("needs the environment variable %s, which is unset or empty", name)
	}
	return value, rest, nil
}
