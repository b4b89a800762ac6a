package durable

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	onceBuffer      = 8 << 10  // tools.md §6.1
	publisherBuffer = 64 << 10 // kept between the publications of one Publisher
)

// Publisher replaces the content of one file again and again. It keeps a write buffer
// of 64 KiB and uses its directory's open descriptor. One goroutine at a time; the owner
// closes it.
//
// It keeps what it published open until the next publication has replaced it, and lets go
// of it beside its caller: a rename that takes the last hold on a file also has to free
// its blocks, which is a quarter of a publication.
type Publisher struct {
	dir  *Dir
	name string
	buf  *bufio.Writer

	once    bool // nothing is kept open
	current int  // what was published last; -1: not known
	freeing sync.WaitGroup
}

// NewPublisher prepares publication of dir/name; name is one path component. No file
// is touched. The Publisher is dead once dir is closed.
func NewPublisher(dir *Dir, name string) (*Publisher, error) {
	return newPublisher(dir, name, publisherBuffer)
}

func newPublisher(dir *Dir, name string, size int) (*Publisher, error) {
	if err := checkName(name); err != nil {
		return nil, fmt.Errorf("publish in %s: %w", dir.path, err)
	}
	return &Publisher{dir: dir, name: name, buf: bufio.NewWriterSize(nil, size), current: -1}, nil
}

// Close lets go of what is kept open. A later publication keeps nothing.
func (p *Publisher) Close() {
	p.once = true
	p.replaced(-1)
	p.freeing.Wait()
}

// replaced takes fd for what is published now. At most one file is being freed.
func (p *Publisher) replaced(fd int) {
	former := p.current
	p.current = fd
	if former < 0 {
		return
	}
	p.freeing.Wait()
	p.freeing.Go(func() { _ = unix.Close(former) })
}

// Publish replaces the file at path once, mode 0600, and makes missing parents, 0700.
// A link at path is replaced, not followed. Errors after the arguments were accepted
// and the parents opened are *PublishError.
func Publish(path string, write func(io.Writer) error) error { return Ops{}.Publish(path, write) }

// Publish is the package's Publish, made through o.
func (o Ops) Publish(path string, write func(io.Writer) error) error {
	parent, name := filepath.Split(path)
	if write == nil {
		return fmt.Errorf("publish %s: %w", path, ErrNoWriter)
	}
	if err := checkName(name); err != nil {
		return fmt.Errorf("publish %q: %w", path, err)
	}
	if parent == "" {
		parent = "."
	}
	dir, err := o.OpenDir(parent)
	if err != nil {
		return fmt.Errorf("publish %s: %w", path, err)
	}
	defer dir.Close()
	return dir.publish(name, onceBuffer, write)
}

// Publish replaces the file of that name in d once. See Publisher.Publish.
func (d *Dir) Publish(name string, write func(io.Writer) error) error {
	return d.publish(name, publisherBuffer, write)
}

func (d *Dir) publish(name string, buffer int, write func(io.Writer) error) error {
	p, err := newPublisher(d, name, buffer)
	if err != nil {
		return err
	}
	p.once = true
	return p.Publish(write)
}

// Path is the destination.
func (p *Publisher) Path() string { return filepath.Join(p.dir.path, p.name) }

// Publish calls write once and makes what it wrote the file's new content. Where write
// or any step up to the rename fails (or write panics), the temporary file is removed
// and the old content stays; where only the directory's fsync fails, the new content is
// visible and the error says so. All errors are *PublishError.
//
// A publication that failed is not tried again on the same temporary file: after a
// failed fsync the kernel may have dropped the pages and report success the next time.
func (p *Publisher) Publish(write func(io.Writer) error) error {
	if write == nil {
		return p.failed("", ErrNoWriter)
	}
	if p.dir.fd < 0 {
		return p.failed(LabelCreate, ErrClosed)
	}
	t, err := p.dir.createTemp()
	if err != nil {
		return p.failed(LabelCreate, err)
	}
	defer t.discard()
	if label, err := p.fill(t, write); err != nil {
		return p.failed(label, err)
	}
	if err := p.rename(t); err != nil {
		return p.failed(LabelRename, err)
	}
	defer p.replaced(t.release())
	if err := p.dir.ops.fsync(LabelSyncDir, p.dir.fd, p.dir.path); err != nil {
		return &PublishError{Path: p.Path(), Step: LabelSyncDir, Published: true, Err: err}
	}
	return nil
}

// fill brings the content to disk in the temporary file; on failure it names the step.
func (p *Publisher) fill(t *temp, write func(io.Writer) error) (string, error) {
	ops := p.dir.ops
	// The umask may have taken bits from the mode that open asked for.
	err := ops.do(LabelMode, Op{CallChmod, t.name}, func() error { return unix.Fchmod(t.fd, 0o600) })
	if err != nil {
		return LabelMode, err
	}
	p.buf.Reset(t)
	defer p.buf.Reset(nil)
	if err := write(p.buf); err != nil {
		return LabelWrite, err
	}
	if err := p.buf.Flush(); err != nil {
		return LabelWrite, err
	}
	if err := ops.fsync(LabelSync, t.fd, t.name); err != nil {
		return LabelSync, err
	}
	if !p.once {
		t.keep()
	}
	return LabelClose, t.close()
}

func (p *Publisher) rename(t *temp) error {
	fd := p.dir.fd
	err := p.dir.ops.do(LabelRename, Op{CallRename, p.name}, func() error {
		return unix.Renameat(fd, t.name, fd, p.name)
	})
	t.gone = err == nil
	return err
}

func (p *Publisher) failed(step string, err error) error {
	return &PublishError{Path: p.Path(), Step: step, Err: err}
}
