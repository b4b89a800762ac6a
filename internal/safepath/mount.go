package safepath

import (
	"os"
	"strconv"
	"strings"
)

func selfPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// MountBelow gives a mount point at or below d's path, "" if there is none. It goes by
// the table of this process's mount namespace.
func (d *Dir) MountBelow(name string) (string, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", d.fail("read the mounts below", name, err)
	}
	path := strings.TrimSuffix(d.path, "/") + "/" + name
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		at := unescape(fields[4])
		if at == path || strings.HasPrefix(at, path+"/") {
			return at, nil
		}
	}
	return "", nil
}

// unescape undoes the octal escapes of the table: blank, tab, newline and backslash.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// sameMount compares the mounts that two descriptors are on.
func sameMount(a, b int) (bool, error) {
	x, err := mountID(a)
	if err != nil {
		return false, err
	}
	y, err := mountID(b)
	return x == y, err
}

func mountID(fd int) (string, error) {
	raw, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(raw)) {
		if id, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			return strings.TrimSpace(id), nil
		}
	}
	return "", os.ErrNotExist
}
