package sqlitestore

import (
	"fmt"
	"os"
	"syscall"
)

// roomSize is how far, in bytes, the log is made longer ahead of the saves: a sync of what
// overwrites allocated blocks is a third cheaper than one that makes the file longer.
const roomSize = 64 << 10

// zeros is written ahead. SQLite takes a frame of zeros for the end of the log.
var zeros [roomSize]byte

// makeRoom makes the log longer when a save had to. It is called between transactions, by
// the one process that writes the log; what it writes is not synced, and a log without
// room is as good as one with it.
func (s *Store) makeRoom() error {
	path := s.path + "-wal"
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Size() <= s.room {
		return nil
	}
	s.room = info.Size() + roomSize // where this fails, it is not tried again before the next growth
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, opened) || !opened.Mode().IsRegular() {
		return fmt.Errorf("log %s: it was exchanged", path)
	}
	_, err = f.WriteAt(zeros[:], info.Size())
	return err
}
