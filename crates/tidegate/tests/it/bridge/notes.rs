//! Why a cell of the table is not simply a yes: the section of the specification, and what the
//! gateway does.

/// An explanation of a cell.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// The letter in the cell.
    pub(super) letter: char,
    pub(super) text: &'static str,
}

/// Every note, in the order of the page.
pub(super) const NOTES: &[&Note] = &[
    &NO_ELICITATION,
    &NO_URL_MODE,
    &NO_TOOLS_IN_SAMPLING,
    &DISCONNECT_DOES_NOT_CANCEL,
    &DISCONNECT_CANCELS,
    &NO_BATCHES,
    &SEPARATE_QUESTIONS,
    &OBJECTS_ONLY,
    &WRAPPED_IN_OBJECT,
    &TEXT_ONLY,
    &GATEWAY_WAITS,
    &ENDS_WITH_STDIN,
    &OLDER_SERVER,
    &AS_TEXT,
    &INPUT_REQUIRED_INSTEAD,
    &NO_COMPLETE_NOTIFICATION,
    &NO_SAMPLING_REFUSAL,
    &NO_ROOTS_NOTIFICATION,
];

pub(super) const NO_ELICITATION: Note = Note {
    letter: 'a',
    text: "Elicitation was added in 2025-06-18 (*Key Changes*). The gateway does not declare the \
           capability to the server for this client; the server then usually fails the call.",
};

pub(super) const NO_URL_MODE: Note = Note {
    letter: 'b',
    text: "URL mode was added in 2025-11-25 (*Elicitation, URL Mode Elicitation Requests*). The gateway \
           declares only form mode to the server for this client; the call fails with an explanation.",
};

pub(super) const NO_TOOLS_IN_SAMPLING: Note = Note {
    letter: 'c',
    text: "Tools in sampling were added in 2025-11-25 (*Sampling, Tools in Sampling*). The gateway does \
           not declare them to the server for this client; the call fails with an explanation.",
};

pub(super) const DISCONNECT_DOES_NOT_CANCEL: Note = Note {
    letter: 'd',
    text: "Before 2026-07-28, closing a connection does not cancel a request (*Transports, \
           Sending Messages to the Server*). The call continues, and the client can fetch the response \
           by resuming the stream with `Last-Event-ID`.",
};

pub(super) const DISCONNECT_CANCELS: Note = Note {
    letter: 'e',
    text: "From 2026-07-28 on, a client over HTTP cancels by closing the stream of its request \
           (*Cancellation, Transport-Specific Cancellation*). A `notifications/cancelled` is accepted and ignored.",
};

pub(super) const NO_BATCHES: Note = Note {
    letter: 'f',
    text: "Only 2025-03-26 has batches (*Overview, Batching*; removed in 2025-06-18, *Key Changes*). A batch \
           is rejected with -32600, and nothing in it runs.",
};

pub(super) const SEPARATE_QUESTIONS: Note = Note {
    letter: 'g',
    text: "Where each question is a separate request (before 2026-07-28) there are no partial answers: \
           one answer can come long after the other, and the server gets both.",
};

pub(super) const OBJECTS_ONLY: Note = Note {
    letter: 'h',
    text: "Before 2026-07-28 structured content is an object (*Tools, Structured \
           Content*), so this server returns no other type. Objects are relayed unchanged; clients before \
           2025-06-18 get only the text.",
};

pub(super) const WRAPPED_IN_OBJECT: Note = Note {
    letter: 'i',
    text: "Before 2026-07-28 structured content is an object (*Tools, Structured \
           Content*). Other types are wrapped as `{\"result\": …}`, and the tool's output schema \
           is changed accordingly.",
};

pub(super) const TEXT_ONLY: Note = Note {
    letter: 'j',
    text: "Structured content was added in 2025-06-18 (*Tools, Structured Content*). \
           Older clients get only the text.",
};

pub(super) const GATEWAY_WAITS: Note = Note {
    letter: 'k',
    text: "A server of 2026-07-28 asks in its result (*Multi Round-Trip Requests*), \
           so nothing waits there. The gateway waits for a client with a session for \
           `limits.answer_timeout`; then the call fails with an explanation.",
};

pub(super) const ENDS_WITH_STDIN: Note = Note {
    letter: 'l',
    text: "Over stdio the gateway is the client's own process and ends with its input (*stdio, \
           Shutdown*). In-flight calls have `shutdown_timeout` to finish; then they are \
           cancelled at their servers, and the gateway ends with every server that it started.",
};

pub(super) const OLDER_SERVER: Note = Note {
    letter: 'm',
    text: "The revision of the server does not have it, so the server offers no such tool. Clients are \
           not asked.",
};

pub(super) const AS_TEXT: Note = Note {
    letter: 'n',
    text: "The error was added in 2025-11-25 (*Elicitation, URL Elicitation Required Error*). Older \
           clients get a failed result whose text contains the URL.",
};

pub(super) const INPUT_REQUIRED_INSTEAD: Note = Note {
    letter: 'o',
    text: "From 2026-07-28 on this error does not exist (*Overview, Error Codes*). The server requires \
           input instead, see *URL elicitation*.",
};

pub(super) const NO_COMPLETE_NOTIFICATION: Note = Note {
    letter: 'p',
    text: "From 2026-07-28 on there is no such notification (*Key Changes*). The client repeats its call, \
           which then succeeds.",
};

pub(super) const NO_SAMPLING_REFUSAL: Note = Note {
    letter: 'q',
    text: "From 2026-07-28 on a sampling answer cannot express a refusal (*Sampling, Error \
           Handling*). A client without a session does not retry, see *never answered*; the \
           call of a client with a session fails with the client's error message.",
};

pub(super) const NO_ROOTS_NOTIFICATION: Note = Note {
    letter: 'r',
    text: "From 2026-07-28 on there is no notification for changed roots (*Key Changes*): a server asks when it needs \
           them. The notification is accepted and ignored.",
};
