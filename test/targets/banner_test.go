package targets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the user's start-up files print stands before the answer: sshd has the shell run
// the command, and bash reads .bashrc then. A Hub must refuse such an answer.
func TestBanners(t *testing.T) {
	tg := overSSH(t)
	s, err := shared.sshd()
	if err != nil {
		t.Fatal(err)
	}
	st := newStore(t, "banner")
	request := st.request("inspect", "nobody", nil)
	clean := local().manage(t, request)
	loud := "echo 'Welcome!'; printf '\\033[31mred\\033[0m\\n'; echo 'message of the day' >&2\n"
	stdout, stderr := "Welcome!\n\x1b[31mred\x1b[0m\n", "message of the day\n"
	for _, c := range []struct {
		name, file, text string
		want             answer
	}{
		{"no files", "", "", clean},
		{"a login shell's file is not read", ".profile", loud, clean},
		{"nor .bash_profile", ".bash_profile", loud, clean},
		{".bashrc prints on both", ".bashrc", loud, answer{stdout + clean.stdout, stderr, clean.code}},
		{".bashrc prints on stderr", ".bashrc", "echo hi >&2\n", answer{clean.stdout, "hi\n", clean.code}},
		{".bashrc returns when it is not interactive", ".bashrc", "case $- in *i*) ;; *) return ;; esac\n" + loud, clean},
		{"200 KiB", ".bashrc", "head -c 204800 /dev/zero | tr '\\0' x\n", answer{strings.Repeat("x", 204800) + clean.stdout, "", clean.code}},
		{".bashrc ends the shell", ".bashrc", "echo no; exit 3\n", answer{"no\n", "", 3}},
	} {
		if c.file != "" {
			path := filepath.Join(s.home, c.file)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(path)
		}
		got := tg.manage(t, request)
		if c.file != "" {
			if err := os.Remove(filepath.Join(s.home, c.file)); err != nil {
				t.Fatal(err)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %v\nwant %v", c.name, got, c.want)
		}
	}
}
