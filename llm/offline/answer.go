package offline

import "strings"

// answer speaks about tool results: it quotes what a command printed, and says so when
// it did not run.
func answer(results []string) string {
	var parts []string
	for _, result := range results {
		parts = append(parts, about(result))
	}
	return strings.Join(parts, "\n\n")
}

func about(result string) string {
	first, _, _ := strings.Cut(result, "\n")
	if strings.HasPrefix(first, "Failed ") {
		return "The command was not carried out, so I cannot answer from it. The tool said:\n\n" + quote(result)
	}
	text, found := output(result)
	if !found {
		return "The tool said:\n\n" + quote(result)
	}
	lead := "The command printed:"
	if code, bad := exitCode(result); bad {
		lead = "The command ended with exit code " + code + " and printed:"
	}
	return lead + "\n\n" + quote(text)
}

// exitCode finds the exit code in the text of a command's result; bad tells that it is
// there and not 0.
func exitCode(result string) (code string, bad bool) {
	for line := range strings.Lines(result) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		if name == "[[exit_code]]" || name == "exit_code" {
			return value, value != "0"
		}
	}
	return "", false
}

func quote(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return "> (nothing)"
	}
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}

// output finds the standard output in the text of a command's result: what follows the
// line that starts with stdout, up to the line about stderr, with or without a fence.
func output(result string) (string, bool) {
	_, rest, found := strings.Cut("\n"+result, "\nstdout")
	if !found {
		return "", false
	}
	head, rest, _ := strings.Cut(rest, "\n")
	if head == ": (empty)" {
		return "", true
	}
	if !strings.HasPrefix(rest, "```") {
		text, _, _ := strings.Cut("\n"+rest, "\nstderr")
		return strings.TrimPrefix(text, "\n"), true
	}
	fence, rest, _ := strings.Cut(rest, "\n")
	marks := fence[:len(fence)-len(strings.TrimLeft(fence, "`"))]
	text, _, _ := strings.Cut("\n"+rest, "\n"+marks)
	return strings.TrimPrefix(text, "\n"), true
}
