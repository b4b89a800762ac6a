package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/process"
)

// person sits at a program's terminal: types, and reads until what was expected shows.
type person struct {
	*desk
	id string
}

// sit starts a program with a terminal.
func sit(t *testing.T, dir, program string, arguments ...string) *person {
	t.Helper()
	d := newDesk(t, true, process.Config{})
	a := d.ok("spawn_process", args{
		"executable": program, "arguments": arguments, "tty": true, "working_directory": dir, "auto_release": false,
		"environment": []string{"HOME=" + dir, "LC_ALL=C.UTF-8", "PS1=$ "}, "expected_runtime_milliseconds": 0,
	})
	a.want("tty", "true", "state", "running")
	return &person{d, a.field("session_id")}
}

// types sends a line and gives what the program answers, up to and with the text.
func (p *person) types(line, until string) string {
	p.t.Helper()
	p.send(p.id, line+"\n")
	return strings.ReplaceAll(p.until(p.id, until), "\r\n", "\n")
}

// leaves sends a last line; the program ends well.
func (p *person) leaves(line string) {
	p.t.Helper()
	p.send(p.id, line+"\n")
	p.finished(p.id).want("exit_code", "0", "signal", "")
	p.ok("read_process", args{"session_id": p.id, "release": true}).want("released", "true")
}

func TestPython(t *testing.T) {
	t.Parallel()
	need(t, "python3")
	p := sit(t, t.TempDir(), "python3", "-i", "-q")
	p.until(p.id, ">>> ")
	p.types("x = 6 * 7", ">>> ")
	if got := p.types("print(x, 'é' * 3)", ">>> "); !strings.Contains(got, "42 ééé\n") {
		t.Errorf("got %q", got)
	}
	p.types("def area(r):\n    return 3 * r * r\n", ">>> ")
	if got := p.types("area(5)", ">>> "); !strings.Contains(got, "75\n") {
		t.Errorf("got %q", got)
	}
	if got := p.types("1 / 0", ">>> "); !strings.Contains(got, "ZeroDivisionError") {
		t.Errorf("got %q", got)
	}
	if got := p.types("import os; print(os.get_terminal_size(), os.isatty(0))", ">>> "); !strings.Contains(got, "columns=80, lines=24) True") {
		t.Errorf("got %q", got)
	}
	// The interrupt character reaches what runs.
	p.send(p.id, "import time; print('asl' + 'eep', flush=True); time.sleep(1000)\n")
	p.until(p.id, "asleep")
	p.send(p.id, "\x03")
	p.until(p.id, "KeyboardInterrupt")
	p.leaves("exit()")
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	need(t, "sqlite3")
	dir := t.TempDir()
	p := sit(t, dir, "sqlite3", "-interactive", "books.db")
	p.until(p.id, "sqlite> ")
	p.types("create table book(title text, pages int);", "sqlite> ")
	p.types("insert into book values('one', 120),('two', 240);", "sqlite> ")
	if got := p.types("select 'sum', sum(pages) from book;", "sqlite> "); !strings.Contains(got, "sum|360\n") {
		t.Errorf("got %q", got)
	}
	p.leaves(".quit")
	if info, err := os.Stat(filepath.Join(dir, "books.db")); err != nil || info.Size() == 0 {
		t.Errorf("the database: %v, %v", info, err)
	}
}

func TestBC(t *testing.T) {
	t.Parallel()
	need(t, "bc")
	p := sit(t, t.TempDir(), "bc", "-q", "-l")
	if got := p.types("2^100", "\n"); !strings.Contains(got, "1267650600228229401496703205376\n") {
		t.Errorf("got %q", got)
	}
	p.send(p.id, "scale=10\n")
	if got := p.types("1/3", "\n"); !strings.Contains(got, ".3333333333\n") {
		t.Errorf("got %q", got)
	}
	// bc ends at the end of its input, too.
	p.ok("send_process", args{"session_id": p.id, "close_input": true})
	p.finished(p.id).want("exit_code", "0")
}

func TestBash(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	dir := t.TempDir()
	p := sit(t, dir, "bash", "--norc", "--noprofile", "--noediting", "-i")
	p.until(p.id, "$ ")
	p.types("mkdir inner && cd inner && name=value", "$ ")
	if got := p.types(`echo "$name in ${PWD##*/}, $TERM, $(stty size)"`, "$ "); !strings.Contains(got, "value in inner, dumb, 24 80\n") {
		t.Errorf("got %q", got)
	}
	// Job control: a command has a group of its own, and bash itself ignores TERM.
	p.send(p.id, "echo be\"\"gun; sleep 1000\n")
	p.until(p.id, "begun")
	p.ok("send_process", args{"session_id": p.id, "signal": "term"}).want("signalled", "true")
	p.until(p.id, "Terminated")
	if got := p.types("echo code $?", "code 143"); !strings.Contains(got, "code 143") {
		t.Errorf("got %q", got)
	}
	// The end of the input ends a shell, at the start of a line.
	p.ok("send_process", args{"session_id": p.id, "close_input": true})
	p.finished(p.id).want("exit_code", "0")
}

func TestGitCommitWithAnEditor(t *testing.T) {
	t.Parallel()
	need(t, "git")
	editors := map[string]func(p *person){
		"ed": func(p *person) {
			p.types("0a\nAdd the file\n\nWritten in a line editor: é.\n.\nw", "\n")
			p.send(p.id, "q\n")
		},
		"vi": func(p *person) {
			p.send(p.id, "ggO")
			p.send(p.id, "Add the file\n\nWritten in a line editor: é.\x1b")
			p.send(p.id, ":wq\r")
		},
	}
	for editor, write := range editors {
		t.Run(editor, func(t *testing.T) {
			t.Parallel()
			need(t, editor)
			dir := t.TempDir()
			p := sit(t, dir, "bash", "--norc")
			p.until(p.id, "$ ")
			p.types("git init -q . && git config user.name A && git config user.email a@example.org && echo x >file && git add file", "$ ")
			p.send(p.id, "GIT_EDITOR="+editor+" git commit; echo ended $?\n")
			p.until(p.id, map[string]string{"ed": "\n", "vi": "COMMIT_EDITMSG"}[editor])
			write(p)
			p.until(p.id, "ended 0")
			want := "Add the file\n\nWritten in a line editor: é.\n"
			if got := p.types("git --no-pager log --format=%B; git status --short", "$ "); !strings.Contains(got, want) {
				t.Errorf("got %q", got)
			}
			p.leaves("exit")
		})
	}
}

// Without a terminal nothing hangs: an editor fails, or there is nothing to answer.
func TestGitCommitWithoutATerminalFailsFast(t *testing.T) { // BR-004
	t.Parallel()
	need(t, "git")
	d := newDesk(t, false, process.Config{})
	dir := t.TempDir()
	a := d.ok("run_command", args{
		"command":           "export HOME=$PWD EDITOR=cat; unset VISUAL GIT_EDITOR; git init -q . && echo x >f && git add f && git -c user.name=a -c user.email=a@b commit",
		"working_directory": dir, "expected_runtime_milliseconds": patience.Milliseconds(),
	})
	a.want("finished", "true", "exit_code", "1")
}
