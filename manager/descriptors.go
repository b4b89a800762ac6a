package manager

import (
	"fmt"

	"golang.org/x/sys/unix"

	"simplex/manager/ancestors"
	"simplex/manager/protocol"
)

// spareDescriptors are what an operation opens beside the directories above its
// allocations, those that every process has and the runtime's own included.
const spareDescriptors = 24

// deletionDescriptors is what safepath.RemoveTree opens: with fewer a deep tree would stop
// a removal after its tombstone.
const deletionDescriptors = 40

// enoughDescriptors refuses a request that this process may not open enough files for.
// In the middle of an operation the language's runtime needs two descriptors of its own,
// and where it gets none the process ends without an answer.
func enoughDescriptors(req *protocol.Request) error {
	need := uint64(ancestors.Depth(req.Directory) + spareDescriptors)
	if req.Operation == protocol.Remove {
		need += deletionDescriptors
	}
	if req.Source != nil {
		need += uint64(ancestors.Depth(req.Source.Directory) + 1)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= need {
		return nil // where the limit is not known, what fails later tells
	}
	return fmt.Errorf("this process may open %d files, and the request may need %d: %w", limit.Cur, need, unix.EMFILE)
}
