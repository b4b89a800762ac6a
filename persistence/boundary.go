package persistence

// Boundary is a place in a session's life where its state is saved. The values are the
// words on the wire (worker-data.md §3.5).
type Boundary string

// The boundaries.
const (
	BeforeTools  Boundary = "before_tools"
	ResultsReady Boundary = "results_ready"
	StepFinished Boundary = "step_finished"
	RunFinished  Boundary = "run_finished"
	Compact      Boundary = "compact"
	Cancelled    Boundary = "cancelled"
	Shutdown     Boundary = "shutdown"
)

// Policy turns off the boundaries that `persistence.save` can turn off. The zero value
// saves at all of them.
type Policy struct {
	SkipStepFinished bool // save.on_step_finished: false
	SkipRunFinished  bool // save.on_run_finished: false
	SkipShutdown     bool // save.on_shutdown: false
}

// Saves tells whether a Save at b writes. Every boundary not named in Policy does.
func (p Policy) Saves(b Boundary) bool {
	switch b {
	case StepFinished:
		return !p.SkipStepFinished
	case RunFinished:
		return !p.SkipRunFinished
	case Shutdown:
		return !p.SkipShutdown
	default:
		return true
	}
}
