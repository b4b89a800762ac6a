package state

// ContentType is the encoding of a content part.
type ContentType string

// Modality is the medium of a content part.
type Modality string

// MessageType tells a message's place in the conversation.
type MessageType string

// InvokeType is a call's scheduling class.
type InvokeType string

// InvokeSecurity is a call's security class.
type InvokeSecurity string

// RetainPriority says how long a turn or step is worth keeping.
type RetainPriority string

// SessionStatus is the session's life stage.
type SessionStatus string

// SectionStability orders prompt sections; it never decreases through a prompt.
type SectionStability string

// LoopStatus is how the current or last run stands.
type LoopStatus string

// LoopPhase says which part of an exchange is under way, and so what a restart may do.
type LoopPhase string

// The spellings on disk and on the wire; the first of each group is the default.
const (
	TypeText        ContentType = "text"
	TypeBinary      ContentType = "binary"
	TypeExternalRef ContentType = "external_ref"

	ModalityText     Modality = "text"
	ModalityImage    Modality = "image"
	ModalityAudio    Modality = "audio"
	ModalityVideo    Modality = "video"
	ModalityDocument Modality = "document"

	UserInput     MessageType = "user_input"
	ModelResponse MessageType = "model_response"
	InvokeReturn  MessageType = "invoke_return"

	ReadOnly    InvokeType = "read_only"
	ParallWrite InvokeType = "parall_write"
	SerialWrite InvokeType = "serial_write"

	DefaultDeny    InvokeSecurity = "default_deny"
	RequireConfirm InvokeSecurity = "require_confirm"
	Trusted        InvokeSecurity = "trusted"

	RetainNormal      RetainPriority = "normal"
	RetainDiscardable RetainPriority = "discardable"
	RetainPinned      RetainPriority = "pinned"

	SessionActive    SessionStatus = "active"
	SessionCompleted SessionStatus = "completed"
	SessionFailed    SessionStatus = "failed"

	Immutable SectionStability = "immutable"
	Growing   SectionStability = "growing"
	Volatile  SectionStability = "volatile"

	StatusIdle                LoopStatus = "idle"
	StatusRunning             LoopStatus = "running"
	StatusCompleted           LoopStatus = "completed"
	StatusCancelled           LoopStatus = "cancelled"
	StatusExchangeLimit       LoopStatus = "exchange_limit"
	StatusFailed              LoopStatus = "failed"
	StatusAutoCompactRequired LoopStatus = "auto_compact_required"

	PhaseReady      LoopPhase = "ready"
	PhaseModel      LoopPhase = "model"
	PhaseTools      LoopPhase = "tools"
	PhaseProjection LoopPhase = "projection"
	PhaseBlocked    LoopPhase = "blocked"
)
