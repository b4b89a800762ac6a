//go:build crash

package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// insideVariable says that this process has a mount namespace of its own: mounts of other
// programs must not keep an image alive after its umount.
const insideVariable = "CRASH_INSIDE_NAMESPACE"

// shutdownFS is FS_IOC_SHUTDOWN; noFlush loses everything that was not synced.
const (
	shutdownFS = 0x8004587d
	noFlush    = 2
)

// changing are the calls before which a power cut may find something new.
var changing = []string{"mkdirat", "write", "fsync", "renameat", "renameat2", "unlinkat", "flock"}

// disk is one file system on an image.
type disk struct {
	tb      testing.TB
	mkfs    []string
	options string
	megs    int64
	dir     string
	n       int
}

func (d *disk) run(name string, args ...string) {
	d.tb.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		skipped(d.tb, "power", fmt.Sprintf("%s %v: %v: %s", name, args, err, out))
	}
}

func (d *disk) mountpoint() string { return filepath.Join(d.dir, "mnt") }

func (d *disk) mount(image string) {
	d.tb.Helper()
	d.run("mount", "-o", "loop"+d.options, image, d.mountpoint())
}

func (d *disk) umount() {
	d.tb.Helper()
	d.run("umount", d.mountpoint())
}

// base makes an image with an operation's starting state, and gives the request and what is there.
func (d *disk) base(op operation, b *bench) (image, argument, start string) {
	d.tb.Helper()
	d.n++
	image = filepath.Join(d.dir, fmt.Sprintf("base-%d", d.n))
	f, err := os.Create(image)
	if err != nil {
		d.tb.Fatal(err)
	}
	if err := f.Truncate(d.megs << 20); err != nil {
		d.tb.Fatal(err)
	}
	_ = f.Close()
	d.run(d.mkfs[0], append(d.mkfs[1:], image)...)
	d.mount(image)
	if err := os.MkdirAll(b.fixed, 0o700); err != nil {
		d.tb.Fatal(err)
	}
	argument = op.begin(b)
	start = b.tree()
	unix.Sync()
	d.umount()
	return image, argument, start
}

// cut loses what was not synced, and mounts what is left.
func (d *disk) cut(image string) {
	d.tb.Helper()
	fd, err := unix.Open(d.mountpoint(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		d.tb.Fatal(err)
	}
	flag := uint32(noFlush)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), shutdownFS, uintptr(unsafe.Pointer(&flag)))
	_ = unix.Close(fd)
	if errno != 0 {
		skipped(d.tb, "power", fmt.Sprintf("the file system cannot be shut down: %v", errno))
	}
	d.umount()
	d.mount(image)
}

// power is layer D: a power cut before every call that changes something, and one after
// the answer.
func power(d *disk, binary string, ops []operation) (f figures) {
	b := &bench{tb: d.tb, binary: binary, fixed: filepath.Join(d.mountpoint(), "r")}
	for _, op := range ops {
		base, argument, start := d.base(op, b)
		for _, call := range changing {
			for n, last := 1, false; !last; n++ {
				d.n++
				image := filepath.Join(d.dir, fmt.Sprintf("point-%d", d.n)) // never an inode that was attached before
				d.run("cp", "--sparse=always", base, image)
				d.mount(image)
				b.fresh()
				if b.tree() != start {
					d.tb.Fatalf("%s: the image is unsound before the point %s %d", op.name, call, n)
				}
				a, killed, _ := b.strace(argument, call, fmt.Sprintf("signal=KILL:when=%d", n))
				last = !killed
				if last && a.code != "" {
					d.tb.Fatalf("%s: undisturbed: %s", op.name, a.text)
				}
				acknowledged := b.record(op.id)
				d.cut(image)
				f.points++
				where := fmt.Sprintf("%s, power cut at %s %d", op.name, call, n)
				f.found(where, b.violations())
				if last && b.record(op.id) != acknowledged {
					f.found(where, []string{"an acknowledged change is lost"})
				}
				f.found(where, b.finish(argument, op.name == "remove"))
				d.umount()
				_ = os.Remove(image)
			}
		}
		_ = os.Remove(base)
	}
	return f
}

func fileSystems(t *testing.T) map[string]*disk {
	t.Helper()
	out := map[string]*disk{}
	for name, d := range map[string]*disk{
		"ext4":           {mkfs: []string{"mkfs.ext4", "-q", "-F"}, megs: 24},
		"ext4-writeback": {mkfs: []string{"mkfs.ext4", "-q", "-F"}, options: ",noauto_da_alloc,data=writeback", megs: 24},
		"xfs":            {mkfs: []string{"mkfs.xfs", "-q", "-f"}, megs: 320},
	} {
		if _, err := exec.LookPath(d.mkfs[0]); err != nil {
			skipped(t, "power on "+name, err)
		}
		d.tb, d.dir = t, t.TempDir()
		if err := os.Mkdir(d.mountpoint(), 0o700); err != nil {
			t.Fatal(err)
		}
		out[name] = d
	}
	return out
}

// inside runs this test again in a mount namespace of its own.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		return true
	}
	needStrace(t)
	cmd := exec.Command("unshare", "-m", "--propagation", "private", "/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.timeout", "20m")
	if self, err := os.Executable(); err == nil {
		cmd.Args[4] = self
	}
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	out, err := cmd.CombinedOutput()
	fmt.Print(string(out))
	if err != nil {
		t.Errorf("%v", err)
	}
	return false
}

func TestPowerCuts(t *testing.T) {
	if !inside(t) {
		return
	}
	binary := build(t, "")
	for name, d := range fileSystems(t) {
		f := power(d, binary, operations())
		report(t, "power   fs=%s points=%d image_unsound=0 %v", name, f.points, &f)
		if f.violations > 0 {
			t.Errorf("%s: %s", name, strings.Join(f.first, "\n"))
		}
	}
}

// Without the fsync of the record a power cut leaves an empty one; without that of the
// directory it takes an acknowledged change back. Layer D must see both.
func TestPowerCutsSeePlantedFaults(t *testing.T) {
	if !inside(t) {
		return
	}
	for _, p := range syncFaults() {
		f := power(fileSystems(t)["ext4-writeback"], build(t, p.overlay(t)), operations()[1:3])
		report(t, "control power: %-30s points=%d violations=%d", p.name, f.points, f.violations)
		if f.violations == 0 {
			t.Errorf("%s was not seen", p.name)
		}
	}
}

// syncFaults are the planted faults that only a power cut shows.
func syncFaults() []planted {
	all := plantedFaults()
	return append(all[len(all)-1:], planted{
		name: "no fsync of the directory", file: "manager/execute.go",
		old: `	s.published, s.rec = true, rec
	return s.mgr.Sync()
`, new: `	s.published, s.rec = true, rec
	return nil
`,
	})
}
