//go:build crash

package crashworker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shutdownFS is FS_IOC_SHUTDOWN; noFlush loses everything that was not synced.
const (
	shutdownFS = 0x8004587d
	noFlush    = 2
)

// disk is one file system on an image of its own.
type disk struct {
	name    string
	mkfs    []string
	options string
	megs    int64

	tb    testing.TB
	dir   string // of the images
	mnt   string
	image string // mounted
	n     int
}

// onlyVariable names the one file system to test on; unset: all.
const onlyVariable = "CRASHWORKER_FS"

// disks are the file systems, not made yet. Each has a directory that ends with the test.
func disks(t *testing.T) (out []*disk) {
	t.Helper()
	all := []*disk{
		{name: "ext4", mkfs: []string{"mkfs.ext4", "-q", "-F"}, megs: 24},
		{name: "ext4-writeback", mkfs: []string{"mkfs.ext4", "-q", "-F"}, options: ",noauto_da_alloc,data=writeback", megs: 24},
		{name: "xfs", mkfs: []string{"mkfs.xfs", "-q", "-f"}, megs: 320},
	}
	for _, d := range all {
		if only := os.Getenv(onlyVariable); only != "" && only != d.name {
			continue
		}
		need(t, d.mkfs[0], "mount", "losetup")
		d.tb, d.dir = t, t.TempDir()
		d.mnt = filepath.Join(d.dir, "mnt")
		if err := os.Mkdir(d.mnt, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(d.mnt, unix.MNT_DETACH) })
		out = append(out, d)
	}
	return out
}

func (d *disk) run(name string, args ...string) {
	d.tb.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		d.tb.Fatalf("SKIPPED %s %v: %v: %s", name, args, err, out)
	}
}

// base makes an image that holds what fill writes below the mount point.
func (d *disk) base(fill func(root string)) string {
	d.tb.Helper()
	d.n++
	image := filepath.Join(d.dir, fmt.Sprintf("base-%d", d.n))
	f, err := os.Create(image)
	if err == nil {
		err = f.Truncate(d.megs << 20)
	}
	if err != nil {
		d.tb.Fatal(err)
	}
	_ = f.Close()
	d.run(d.mkfs[0], append(d.mkfs[1:], image)...)
	d.mount(image)
	fill(d.mnt)
	d.umount()
	return image
}

// begin mounts a copy of a base, whose inode was never attached before.
func (d *disk) begin(base string) {
	d.tb.Helper()
	d.n++
	image := filepath.Join(d.dir, fmt.Sprintf("point-%d", d.n))
	d.run("cp", "--sparse=always", base, image)
	d.mount(image)
}

func (d *disk) mount(image string) {
	d.tb.Helper()
	d.run("mount", "-o", "loop"+d.options, image, d.mnt)
	d.image = image
}

func (d *disk) umount() {
	d.tb.Helper()
	d.run("umount", d.mnt)
}

// end takes the disk of a point away.
func (d *disk) end() {
	d.tb.Helper()
	d.umount()
	_ = os.Remove(d.image)
}

// cut stops the file system: from here on nothing reaches it, and what was not synced is
// lost.
func (d *disk) cut() {
	d.tb.Helper()
	fd, err := unix.Open(d.mnt, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		d.tb.Fatal(err)
	}
	flag := uint32(noFlush)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), shutdownFS, uintptr(unsafe.Pointer(&flag)))
	_ = unix.Close(fd)
	if errno != 0 {
		d.tb.Fatalf("SKIPPED the file system cannot be shut down: %v", errno)
	}
}

// restore mounts what is left, once nobody has a file of it open.
func (d *disk) restore() {
	d.tb.Helper()
	d.umount()
	d.mount(d.image)
}
