package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)

// TestLinksLeadSomewhere follows every relative link of README and the pages.
func TestLinksLeadSomewhere(t *testing.T) {
	pages := []string{"../README.md", "../CHANGELOG.md"}
	found, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, page := range append(append(pages, found...), more...) {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(raw), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
	if links < 15 {
		t.Errorf("only %d links were followed", links)
	}
}
