package wire

// Sizes in bytes of encoded JSON unless said otherwise (wire.md §1-§10, worker-data.md §8).
const (
	MaxInbound    = 16 << 20  // one assembled message from the Hub
	MaxEvent      = 1 << 20   // any event with its envelope
	MaxQueryFrame = 16 << 10  // a history or answer envelope
	MaxNotice     = 16 << 10  // our own cut of a message text inside an event
	MaxHistory    = 256 << 10 // a whole history event
	MaxPage       = 252 << 10 // the data of a history event

	MaxConfirmRequest = 1 << 20
	MaxConfirmReply   = 64 << 10
	MaxToolRequest    = 1 << 20
	MaxToolReply      = 256 << 10

	MaxID              = 128 // UTF-8 bytes of any correlation id
	MaxFeedbackID      = 512 // encoded request_id echoed for a rejected input
	MaxFeedbackOp      = 128 // encoded operation echoed for a rejected input
	MaxCallField       = 256 // id and name of the call inside a confirmation request
	RememberedRequests = 4096

	PayloadCapacity   = 256            // default sizes of the worker's queues, in entries
	PayloadBytes      = 8 * MaxInbound // what the payloads that wait may hold, whatever their number
	SignalCapacity    = 256
	QueryCapacity     = 64
	EventCapacity     = 1024
	LifecycleSlots    = 8
	MetadataSlots     = 6
	WriteFrames       = 256
	WriteBytes        = 16 << 20 // also the least that may be configured
	OutboxBytes       = 16 << 20
	OutboxHeadroom    = 7 << 20 // what ordinary events may fill
	MaxConfigInteger  = 1<<31 - 1
	MaxAnswerInteger  = 1<<53 - 1
	DefaultTimeoutMS  = 120000 // confirmations and remote tools
	HistoryLimit      = 10     // largest and default `limit`, in turns
	HistoryUserParts  = 4
	PreviewText       = 4096 // original bytes of user text shown in a history
	PreviewReference  = 2048 // original bytes of another reference shown there
	PreviewReasoning  = 4096
	HistoryAnswer     = 96 << 10  // encoded answer parts of one history step
	LiveAnswer        = 512 << 10 // encoded answer parts of one live response
	AnswerParts       = 128
	AnswerRestMinimum = 1024     // no further part is begun with less budget left
	AnswerPage        = 32 << 10 // original bytes of an answer page

	DisplayNodes  = 128
	DisplayDepth  = 12
	DisplayItems  = 64
	DisplayKey    = 128
	DisplayString = 1024

	BatchEntries     = 64
	BatchArguments   = 64 << 10 // shared by the entries of a batch
	BatchOutput      = 128 << 10
	EntryArguments   = 8 << 10 // most for one entry
	EntryOutput      = 8 << 10
	EntryExtras      = 512
	EntryStatus      = 256
	EntryErrorStage  = 128
	EntryErrorText   = 1024
	EntryIdentity    = 1024 // our bound on ids and names, so that a batch stays below MaxEvent
	MaxSummary       = 32 << 10
	MaxPlanMarkdown  = 64 << 10
	MaxSequenceChars = 20
)
