//go:build crash

package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// small is a file system with room for so much and no more.
type small struct {
	name    string
	image   []string // mkfs; nil: tmpfs
	options string
	block   int
}

func smallOnes() []small {
	return []small{
		{name: "tmpfs", options: "size=128k,nr_inodes=64", block: 4096},
		{name: "ext4", image: []string{"mkfs.ext4", "-q", "-F", "-b", "1024", "-N", "32", "-m", "0"}, options: "loop", block: 1024},
	}
}

// mounted runs f with the file system mounted in a fresh directory.
func (s small) mounted(tb testing.TB, n int, f func(dir string)) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), strconv.Itoa(n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	args := []string{"-t", "tmpfs", "-o", s.options, "none", dir}
	if s.image != nil {
		image := dir + ".img"
		if err := os.WriteFile(image, make([]byte, 1<<20), 0o600); err != nil {
			tb.Fatal(err)
		}
		defer os.Remove(image)
		tool(tb, s.image[0], append(s.image[1:], image)...)
		args = []string{"-o", s.options, image, dir}
	}
	tool(tb, "mount", args...)
	defer tool(tb, "umount", dir)
	f(dir)
}

func tool(tb testing.TB, name string, args ...string) {
	tb.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		skipped(tb, "limits", fmt.Sprintf("%s %v: %v: %s", name, args, err, out))
	}
}

// fillers fill a directory's file system but for so many units.
func (s small) fillers() map[string]func(tb testing.TB, dir string, free int) {
	return map[string]func(tb testing.TB, dir string, free int){"inodes": fillInodes, "blocks": s.fillBlocks}
}

func fillInodes(tb testing.TB, dir string, free int) {
	tb.Helper()
	n := 0
	for ; ; n++ {
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(n)))
		if errors.Is(err, unix.ENOSPC) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		_ = f.Close()
	}
	for i := range min(free, n) {
		_ = os.Remove(filepath.Join(dir, strconv.Itoa(i)))
	}
}

func (s small) fillBlocks(tb testing.TB, dir string, free int) {
	tb.Helper()
	f, err := os.Create(filepath.Join(dir, "blob"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	size := 0
	for {
		n, err := f.Write(make([]byte, s.block))
		if size += n; err != nil {
			break
		}
	}
	if err := errors.Join(f.Truncate(int64(max(0, size-free*s.block))), f.Sync()); err != nil {
		tb.Fatal(err)
	}
}

// filled tries an operation on a disk that has nothing left, then one unit more each
// time until it passes; after each failure there is room again.
func (s small) filled(b *bench, op operation, fill func(tb testing.TB, dir string, free int)) (f figures) {
	for free, passed := 0, false; !passed; free++ {
		s.mounted(b.tb, f.points, func(dir string) {
			f.points++
			where := fmt.Sprintf("%s on a full %s, %d free", op.name, s.name, free)
			b.fixed = filepath.Join(dir, "r")
			filler := filepath.Join(dir, "filler")
			for _, path := range []string{b.fixed, filler} {
				if err := os.Mkdir(path, 0o700); err != nil {
					b.tb.Fatal(err)
				}
			}
			argument := op.begin(b)
			fill(b.tb, filler, free)
			passed = b.limited(&f, op, where, argument, func() error { return os.RemoveAll(filler) }) || free > 100
		})
	}
	return f
}

// limited runs a request where something is short, with the argument vector of prefix
// before it, makes room and repeats it. It tells whether the request passed at once.
func (b *bench) limited(f *figures, op operation, where, argument string, room func() error, prefix ...string) bool {
	b.tb.Helper()
	before := b.visible(op.id)
	args := append(prefix, b.binary, "manage", "--request", argument)
	out, _ := exec.Command(args[0], args[1:]...).Output()
	a := parse(out)
	if a.code != "" {
		f.reported++
	}
	f.found(where, judge(a, before, b.visible(op.id), ""))
	if err := room(); err != nil {
		b.tb.Fatal(err)
	}
	f.found(where, b.violations())
	f.found(where, b.finish(argument, op.name == "remove"))
	return a.code == ""
}

func TestFullDisks(t *testing.T) {
	if !inside(t) {
		return
	}
	b := &bench{tb: t, binary: build(t, "")}
	for _, s := range smallOnes() {
		for unit, fill := range s.fillers() {
			var total figures
			for _, op := range operations() {
				total.add(s.filled(b, op, fill))
			}
			report(t, "full    fs=%s unit=%s points=%d reported=%d %v", s.name, unit, total.points, total.reported, &total)
			if total.violations > 0 || total.reported < 5 {
				t.Errorf("%s, %s: %d reported: %s", s.name, unit, total.reported, strings.Join(total.first, "\n"))
			}
		}
	}
}

// A limit on the size of a file, or on open files, that grows until the request passes.
func TestProcessLimits(t *testing.T) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		skipped(t, "limits", err)
	}
	b := &bench{tb: t, binary: build(t, "")}
	for _, c := range []struct {
		name        string
		first, step int
	}{{"fsize", 0, 16}, {"nofile", 3, 1}} {
		var f figures
		for _, op := range operations() {
			for n, passed := c.first, false; !passed && n < 4096; n += c.step {
				f.points++
				argument := op.begin(b)
				where := fmt.Sprintf("%s with %s=%d", op.name, c.name, n)
				passed = b.limited(&f, op, where, argument, func() error { return nil }, "prlimit", fmt.Sprintf("--%s=%d:%d", c.name, n, n))
			}
		}
		report(t, "limits  rlimit=%s points=%d reported=%d %v", c.name, f.points, f.reported, &f)
		if f.violations > 0 || f.reported < 20 {
			t.Errorf("%s: %d reported: %s", c.name, f.reported, strings.Join(f.first, "\n"))
		}
	}
}

// A file system that is read-only, one file that cannot be deleted, and an answer that
// nobody can be told.
func TestReadOnly(t *testing.T) {
	if !inside(t) {
		return
	}
	b := &bench{tb: t, binary: build(t, "")}
	var f figures
	for i, op := range operations() {
		smallOnes()[0].mounted(t, i, func(dir string) {
			b.fixed = filepath.Join(dir, "r")
			if err := os.Mkdir(b.fixed, 0o700); err != nil {
				t.Fatal(err)
			}
			argument := op.begin(b)
			before := b.tree()
			tool(t, "mount", "-o", "remount,ro", dir)
			f.points++
			b.limited(&f, op, op.name+", read-only", argument, func() error {
				if b.tree() != before {
					t.Errorf("%s changed a read-only file system", op.name)
				}
				return exec.Command("mount", "-o", "remount,rw", dir).Run()
			})
		})
	}
	smallOnes()[1].mounted(t, 100, func(dir string) {
		b.fixed = filepath.Join(dir, "r")
		if err := os.Mkdir(b.fixed, 0o700); err != nil {
			t.Fatal(err)
		}
		op := operations()[4]
		argument := op.begin(b)
		tool(t, "chattr", "+i", filepath.Join(b.dir("a"), "state/state.json"))
		f.points++
		b.limited(&f, op, "an immutable file", argument, func() error {
			return exec.Command("chattr", "-i", filepath.Join(b.root, "up", managerDir, "a.trash/state/state.json")).Run()
		})
	})
	for _, op := range operations() {
		f.points++
		argument := op.begin(&bench{tb: t, binary: b.binary})
		f.found(op.name+" into /dev/full", b.unheard(argument))
	}
	report(t, "limits  read_only,immutable,dev_full points=%d reported=%d %v", f.points, f.reported, &f)
	if f.violations > 0 || f.reported != len(operations())+1 {
		t.Errorf("%d reported: %s", f.reported, strings.Join(f.first, "\n"))
	}
	reportQuota(t)
}

func (b *bench) unheard(argument string) []string {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		b.tb.Fatal(err)
	}
	defer full.Close()
	cmd := exec.Command(b.binary, "manage", "--request", argument)
	cmd.Stdout = full
	if cmd.Run() == nil {
		return []string{"exit code 0 for an answer that could not be written"}
	}
	return nil
}

// reportQuota says why no real quota is tried: where the kernel has none, EDQUOT comes
// from layer C alone.
func reportQuota(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=128k,usrquota", "none", dir).CombinedOutput()
	if err != nil {
		report(t, "limits  EDQUOT: SKIPPED this kernel has no quota on tmpfs, EDQUOT is injected by layer C: %s", strings.TrimSpace(strings.SplitN(string(out), "\n", 2)[0]))
		return
	}
	tool(t, "umount", dir)
	t.Error("this kernel has quotas: try EDQUOT with a real one")
}
