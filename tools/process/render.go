package process

import (
	"fmt"
	"strings"

	"simplex/internal/text"
	proc "simplex/process"
	"simplex/process/capture"
	"simplex/tools/result"
)

// sessionFields writes what every session record starts with.
func sessionFields(r *result.Record, snap proc.Snapshot) {
	r.String("session_id", snap.ID)
	r.String("state", string(snap.State))
	if snap.ExitCode != nil {
		r.Int("exit_code", int64(*snap.ExitCode))
	}
	r.String("signal", snap.Signal)
	r.String("description", brief(snap.Spec.Description))
	r.String("working_directory", snap.Spec.WorkingDirectory)
	r.Int("pid", int64(snap.PID))
	r.Int("running_milliseconds", snap.Running.Milliseconds())
	if snap.Spec.TTY {
		r.Bool("tty", true)
	}
}

// brief keeps a label short: a command line may be a whole script, which the call
// record has anyway.
func brief(label string) string {
	const most = 1 << 10
	if len(label) <= most {
		return label
	}
	return fmt.Sprintf("%s… (%d bytes in all)", text.Prefix(label, most), len(label))
}

// blocks writes output, and after a stream that lost bytes its end. What is missing
// between the two is counted in a note.
func blocks(r *result.Record, prefix string, outputs []capture.Output) {
	var lost []string
	for _, o := range outputs {
		name := prefix + string(o.Stream)
		body := text.Display(string(o.Data))
		if !o.Truncated {
			r.Block(name, body)
			continue
		}
		r.CutBlock(name, body)
		r.TailBlock(name+"_tail", text.Display(string(o.Tail)))
		if o.Omitted > 0 {
			lost = append(lost, fmt.Sprintf("%d bytes of %s", o.Omitted, o.Stream))
		}
	}
	if len(lost) > 0 {
		r.String("note", strings.Join(lost, " and ")+" were left out before the tail; to see them, run it again with the output in a file")
	}
}
