package state

import "math"

func (s *scanner) turn(t *Turn) {
	t.Steps = []*Step{}
	t.Retain = RetainNormal
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "user_input":
			if s.once(&f, 0) {
				t.UserInput = freshMessage(UserInput)
				s.nested(func() { s.message(t.UserInput) })
			}
		case "agent_loop_step":
			if s.once(&f, 1) {
				t.Steps = pointers(s, (*scanner).step)
			}
		case "retain_priority":
			if s.once(&f, 2) {
				t.Retain = s.retain()
			}
		case "extras":
			if s.once(&f, 3) {
				t.Extras = s.optionalObject()
			}
		default:
			s.keep(&f)
		}
	}
	t.Unknown = s.rest(&f)
	if t.UserInput == nil {
		t.UserInput = freshMessage(UserInput)
	}
}

func (s *scanner) retain() RetainPriority {
	return tolerant(s, RetainNormal, RetainDiscardable, RetainPinned)
}

// nested reads a plain record inside another; in a single record null leaves it at its
// defaults, in a document the shape check refuses null.
func (s *scanner) nested(read func()) {
	if s.record && s.null() {
		return
	}
	read()
}

func (s *scanner) step(t *Step) {
	t.Retain = RetainNormal
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "model_response":
			if s.once(&f, 0) {
				t.ModelResponse = freshMessage(UserInput)
				s.nested(func() { s.message(t.ModelResponse) })
			}
		case "invoke_returns":
			if s.once(&f, 1) && !s.null() {
				t.Returns, t.ReturnsSet = pointers(s, (*scanner).message), true
			}
		case "retain_priority":
			if s.once(&f, 2) {
				t.Retain = s.retain()
			}
		case "commit_sequence":
			if s.once(&f, 3) {
				t.CommitSequence = s.uint(math.MaxUint64)
			}
		case "extras":
			if s.once(&f, 4) {
				t.Extras = s.optionalObject()
			}
		default:
			s.keep(&f)
		}
	}
	t.Unknown = s.rest(&f)
	if t.ModelResponse == nil {
		t.ModelResponse = freshMessage(ModelResponse)
	}
}

func freshMessage(t MessageType) *Message { return &Message{Type: t, Content: []Content{}} }

func (s *scanner) message(m *Message) {
	m.Type, m.Content = UserInput, []Content{}
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "type":
			if s.once(&f, 0) {
				m.Type = tolerant(s, UserInput, ModelResponse, InvokeReturn)
			}
		case "role":
			if s.once(&f, 1) {
				m.Role = s.role()
			}
		case "content":
			if s.once(&f, 2) {
				m.Content = s.contents()
			}
		case "reasoning":
			if s.once(&f, 3) {
				m.Reasoning = s.optionalContent()
			}
		case "action_status":
			if s.once(&f, 4) {
				m.ActionStatus = s.optionalContent()
			}
		case "invokes":
			if s.once(&f, 5) && !s.null() {
				m.Calls, m.CallsSet = list(s, (*scanner).call), true
			}
		case "cost":
			if s.once(&f, 6) && !s.null() {
				m.Cost = &TokenCost{}
				s.cost(m.Cost)
			}
		case "invoke_return":
			if s.once(&f, 7) && !s.null() {
				m.Result = &Result{}
				s.result(m.Result)
			}
		case "extras":
			if s.once(&f, 8) {
				m.Extras = s.optionalObject()
			}
		default:
			s.keep(&f)
		}
	}
	m.Unknown = s.rest(&f)
}

// role reads a role; the usual ones are not allocated.
func (s *scanner) role() string {
	if s.err != nil || s.peek() != '"' {
		return s.str()
	}
	content, _ := s.text()
	switch string(content) {
	case "user":
		return "user"
	case "assistant":
		return "assistant"
	case "tool":
		return "tool"
	}
	return string(content)
}

func (s *scanner) cost(c *TokenCost) {
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "prompt":
			if s.once(&f, 0) {
				c.Prompt = s.uint(math.MaxUint64)
			}
		case "generated":
			if s.once(&f, 1) {
				c.Generated = s.uint(math.MaxUint64)
			}
		case "cache_hit":
			if s.once(&f, 2) {
				c.CacheHit = s.uint(math.MaxUint64)
			}
		default:
			s.keep(&f)
		}
	}
	c.Unknown = s.rest(&f)
}

func (s *scanner) loop(l *LoopProgress) {
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "status":
			if s.once(&f, 0) {
				l.Status = strict(s, StatusIdle, StatusRunning, StatusCompleted, StatusCancelled,
					StatusExchangeLimit, StatusFailed, StatusAutoCompactRequired)
			}
		case "phase":
			if s.once(&f, 1) {
				l.Phase = strict(s, PhaseReady, PhaseModel, PhaseTools, PhaseProjection, PhaseBlocked)
			}
		case "completed_exchanges":
			if s.once(&f, 2) {
				l.CompletedExchanges = s.uint(math.MaxUint64)
			}
		case "error":
			if s.once(&f, 3) {
				l.Error = s.str()
			}
		case "pending_results":
			if s.once(&f, 4) {
				l.Pending = list(s, (*scanner).result)
			}
		case "committed_response_sequence":
			if s.once(&f, 5) {
				l.CommittedSequence = s.uint(math.MaxUint64)
			}
		default:
			s.keep(&f)
		}
	}
	l.Unknown = s.rest(&f)
	s.required(&f, "status", "phase", "completed_exchanges", "error", "pending_results")
}
