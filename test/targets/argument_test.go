package targets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The shell of every target; busybox in the container.
const shell = "/bin/sh"

// Arguments arrive byte for byte.
func TestArguments(t *testing.T) {
	t.Parallel()
	trap := filepath.Join(t.TempDir(), "pwned")
	args := []string{
		"", "a b", "  two  ", "it's", "''", `"`, "$HOME", "${x}", "`touch " + trap + "`", "$(touch " + trap + ")", "*", "?", "~", `\`, `\\'`,
		"my work; touch " + trap, "a\nb", "\t", "-n", "--", "#", "!!", "%s", "ünï 日本 \U0001F600", "\u2028", "&", "|", "<", ">", "{a,b}", "x=y", "\x01\x1b[31m\x7f",
	}
	for _, tg := range everywhere(t) {
		got, err := tg.call(t, append([]string{shell, "-c", `printf '%s\0' "$@"`, "sh"}, args...)...)
		if err != nil || got.code != 0 || got.stderr != "" {
			t.Fatalf("%s: %v %v", tg.name, err, got)
		}
		if want := strings.Join(args, "\x00") + "\x00"; got.stdout != want {
			t.Errorf("%s: got %q\nwant %q", tg.name, got.stdout, want)
		}
	}
	if _, err := os.Lstat(trap); err == nil {
		t.Error("a part of an argument was executed")
	}
}

// A request of exactly n bytes: white space after the object is fine.
func padded(s store, n int) string {
	request := s.request("inspect", "nobody", nil)
	return request + strings.Repeat(" ", n-len(request))
}

// maxWord is the largest argument that Linux takes, without its zero byte.
const maxWord = 131_071

// 98,301 bytes of JSON are the largest request of one argument.
func TestLargestRequest(t *testing.T) {
	t.Parallel()
	s := newStore(t, "argv")
	for _, tg := range []target{local(), inContainer(t)} {
		got := tg.manage(t, padded(s, 98_301))
		if got.code != 1 || !strings.Contains(got.stdout, `"code":"not_found"`) {
			t.Errorf("%s: 98,301 bytes: %v", tg.name, got)
		}
		if _, err := tg.call(t, shared.executable, "manage", "--request", encoded(padded(s, 98_302))); !errors.Is(err, syscall.E2BIG) {
			t.Errorf("%s: 98,302 bytes: %v, want E2BIG before anything is sent", tg.name, err)
		}
	}
}

// Over ssh the whole command is one word for the remote shell.
func TestLargestRequestOverSSH(t *testing.T) {
	t.Parallel()
	s := newStore(t, "argv-ssh")
	tg := overSSH(t)
	fixed := len(strings.Join([]string{quoted(shared.executable), quoted("manage"), quoted("--request"), quoted("")}, " "))
	room := (maxWord - fixed) / 4 * 3 // Base64 makes four of three
	got := tg.manage(t, padded(s, room))
	if got.code != 1 || got.stderr != "" || !strings.Contains(got.stdout, `"code":"not_found"`) {
		t.Errorf("%d bytes: %v", room, got)
	}
	// The client takes it, the server's shell can't be started: no answer, and an exit code
	// that manage uses, too.
	got = tg.manage(t, padded(s, room+1))
	if got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, "Argument list too long") {
		t.Errorf("%d bytes: %v", room+1, got)
	}
	t.Logf("largest request: 98301 bytes local and docker, %d over ssh with an executable of %d bytes", room, len(shared.executable))
}
