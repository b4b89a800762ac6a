package exec

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// answer is the text of a tool's result.
type answer struct {
	t      testing.TB
	text   string
	failed bool
}

// field is a field's value in the first record that has it.
func (a answer) field(name string) string {
	for line := range strings.Lines(a.text) {
		if value, ok := strings.CutPrefix(line, "[["+name+"]]: "); ok {
			return strings.TrimSuffix(value, "\n")
		}
	}
	return ""
}

// want checks fields, given in pairs of name and value; "" is an absent one.
func (a answer) want(pairs ...string) {
	a.t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := a.field(pairs[i]); got != pairs[i+1] {
			a.t.Errorf("%s is %q, want %q, in:\n%.1500s", pairs[i], got, pairs[i+1], a.text)
		}
	}
}

// contains checks that the text has the parts.
func (a answer) contains(parts ...string) {
	a.t.Helper()
	for _, part := range parts {
		if !strings.Contains(a.text, part) {
			a.t.Errorf("%q is missing in:\n%.1500s", part, a.text)
		}
	}
}

// whole checks that no output is missing, and that no end was taken for a failure.
func (a answer) whole() {
	a.t.Helper()
	if strings.Contains(a.text, "truncated") {
		a.t.Errorf("output is missing:\n%.1500s", a.text)
	}
}

// block is the body of a block, by its announced length.
func (a answer) block(name string) string {
	header := regexp.MustCompile(`(?m)^` + name + ` \((?:truncated, first |last )?(\d+) bytes\):\n`)
	at := header.FindStringSubmatchIndex(a.text)
	if at == nil {
		return ""
	}
	n, err := strconv.Atoi(a.text[at[2]:at[3]])
	if err != nil || at[1]+n > len(a.text) {
		a.t.Fatalf("block %s is shorter than announced: %.200s", name, a.text[at[0]:])
	}
	return a.text[at[1] : at[1]+n]
}

// output is what the command printed on standard output or on its terminal, whose line
// ends are CR LF.
func (a answer) output() string {
	a.t.Helper()
	if a.field("tty") == "true" {
		return strings.ReplaceAll(a.block("output"), "\r\n", "\n")
	}
	return a.block("stdout")
}

// tail is the end of an output that outran the budget.
func (a answer) tail() string {
	a.t.Helper()
	if a.field("tty") == "true" {
		return strings.ReplaceAll(a.block("output_tail"), "\r\n", "\n")
	}
	return a.block("stdout_tail")
}

// fresh is what a poll shows as new, the end of a lossy stream included.
func (a answer) fresh() string {
	return a.block("new_stdout") + a.block("new_stdout_tail") + a.block("new_output") + a.block("new_output_tail")
}
