//! Why a cell of the table is not simply a yes: the paragraph of the specification that says so, and
//! what the gateway does then.

/// Why something is otherwise.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// What is written in the cell.
    pub(super) letter: char,
    pub(super) text: &'static str,
}

/// Every note, in the order of the page.
pub(super) const NOTES: &[&Note] = &[
    &NO_ELICITATION,
    &NO_PAGES,
    &NO_TOOLS_IN_SAMPLING,
    &LEAVING_IS_NOT_CANCELLING,
    &LEAVING_IS_CANCELLING,
    &NO_BATCHES,
    &ONE_BY_ONE,
    &OBJECTS_ALONE,
    &WRAPPED,
    &TEXT_ALONE,
    &WAITED_FOR,
    &ENDS_WITH_ITS_PIPE,
    &OLDER_SERVER,
    &AS_TEXT,
    &ASKED_INSTEAD,
    &NO_WORD_OF_THE_END,
    &NO_WORD_FOR_NO,
    &NO_WORD_OF_ROOTS,
];

pub(super) const NO_ELICITATION: Note = Note {
    letter: 'a',
    text: "Elicitation came with 2025-06-18 (*Key Changes*). The server is told that \
           this client cannot be asked; what it makes of that, mostly a failed call, is the answer.",
};

pub(super) const NO_PAGES: Note = Note {
    letter: 'b',
    text: "URL mode came with 2025-11-25 (*Elicitation, URL Mode Elicitation Requests*). The server is told \
           that this client knows forms alone, and its call fails with words that say so.",
};

pub(super) const NO_TOOLS_IN_SAMPLING: Note = Note {
    letter: 'c',
    text: "Tools in sampling came with 2025-11-25 (*Sampling, Tools in Sampling*). The server is \
           told that this client cannot do that, and its call fails with words that say so.",
};

pub(super) const LEAVING_IS_NOT_CANCELLING: Note = Note {
    letter: 'd',
    text: "Before 2026-07-28, a connection that goes away does not cancel anything (*Transports, \
           Sending Messages to the Server*). The call goes on, and its answer waits for a client \
           that comes back with `Last-Event-ID`.",
};

pub(super) const LEAVING_IS_CANCELLING: Note = Note {
    letter: 'e',
    text: "From 2026-07-28 on, a client over HTTP cancels by closing the stream of its request \
           (*Cancellation, Transport-Specific Cancellation*). A `notifications/cancelled` is taken and changes nothing.",
};

pub(super) const NO_BATCHES: Note = Note {
    letter: 'f',
    text: "Only 2025-03-26 has batches (*Overview, Batching*; taken out by 2025-06-18, *Key Changes*). An array \
           is refused with -32600, and nothing in it runs.",
};

pub(super) const ONE_BY_ONE: Note = Note {
    letter: 'g',
    text: "Where each question is a request of its own (before 2026-07-28) there is nothing partial: \
           one answer can come long after the other, and the server gets both.",
};

pub(super) const OBJECTS_ALONE: Note = Note {
    letter: 'h',
    text: "Before 2026-07-28 structured content is an object (*Tools, Structured \
           Content*), so that this server has no other. Objects arrive as they are; clients before \
           2025-06-18 get the text alone.",
};

pub(super) const WRAPPED: Note = Note {
    letter: 'i',
    text: "Before 2026-07-28 structured content is an object (*Tools, Structured \
           Content*). Whatever else a server gives arrives as `{\"result\": …}`, and the tool's schema \
           says so.",
};

pub(super) const TEXT_ALONE: Note = Note {
    letter: 'j',
    text: "Structured content came with 2025-06-18 (*Tools, Structured Content*). \
           Older clients get the text alone.",
};

pub(super) const WAITED_FOR: Note = Note {
    letter: 'k',
    text: "A server of 2026-07-28 has answered once it asks (*Multi Round-Trip Requests*), \
           so that nothing waits there. The gateway waits for a client with a session as long as \
           `answer_timeout` of its limits says; then the call fails with words that say so.",
};

pub(super) const ENDS_WITH_ITS_PIPE: Note = Note {
    letter: 'l',
    text: "On stdio the gateway is the client's own process and ends with its input (*stdio, \
           Shutdown*). Calls under way have the time of `shutdown_timeout` to end first; then their servers are \
           told that nobody waits, and the gateway ends, with every server that it started.",
};

pub(super) const OLDER_SERVER: Note = Note {
    letter: 'm',
    text: "The server speaks a revision that does not have it, so that it has no such tool. Clients that \
           could are not asked.",
};

pub(super) const AS_TEXT: Note = Note {
    letter: 'n',
    text: "The error came with 2025-11-25 (*Elicitation, URL Elicitation Required Error*). Older \
           clients get a failed result, the text of which has the address of the page.",
};

pub(super) const ASKED_INSTEAD: Note = Note {
    letter: 'o',
    text: "From 2026-07-28 on there is no such error (*Overview, Error Codes*). The server asks, which is the row \
           above.",
};

pub(super) const NO_WORD_OF_THE_END: Note = Note {
    letter: 'p',
    text: "From 2026-07-28 on nobody is told (*Key Changes*). The client makes its call again, and finds it \
           done.",
};

pub(super) const NO_WORD_FOR_NO: Note = Note {
    letter: 'q',
    text: "From 2026-07-28 on a model's answer has no way to say no (*Sampling, Error \
           Handling*). A client without a session does not come back, which is *never answered*; the \
           call of one with a session ends with an error that carries its words.",
};

pub(super) const NO_WORD_OF_ROOTS: Note = Note {
    letter: 'r',
    text: "From 2026-07-28 on nobody is told that roots changed (*Key Changes*): a server asks when it needs \
           them. The word is taken and goes no further.",
};
