"""Every budget of what a model reads: how long an answer may be, and each part of one. It is spent beside its words."""

# Whole answers, in bytes: the text, and the structured form beside it ------------------------------------------------

SCHEMA_INDEX_BYTES, SCHEMA_INDEX_STRUCTURED_BYTES = 8000, 16_000
SCHEMA_STREAM_BYTES, SCHEMA_STREAM_STRUCTURED_BYTES = 6000, 10_000
SCHEMA_FULL_STRUCTURED_BYTES = 40_000  # of one stream with all that is declared; its text has no more room than above
QUERY_BYTES, QUERY_STRUCTURED_BYTES = 3600, 24_000
AGGREGATE_BYTES, AGGREGATE_STRUCTURED_BYTES = 2400, 10_000
SEARCH_BYTES, SEARCH_STRUCTURED_BYTES = 3600, 16_000
SEARCH_FEW_STRUCTURED_BYTES = 7500  # of a page of no more hits than by default
DOCUMENT_BYTES, DOCUMENT_TEXT_BYTES = 16_000, 12_000  # of a fetched record in either form, and of its `text`
WINDOW_HEADER_BYTES, WINDOW_STRUCTURED_BYTES = 300, 20_000  # above a window there is also room for three of its ids
REFUSAL_BYTES, REFUSAL_STRUCTURED_BYTES = 2000, 4000

# What several answers say ---------------------------------------------------------------------------------------------

TITLE_CHARS = LABEL_CHARS = 80
LONG_HANDLE_BYTES = 160  # of a handle that is not repeated
LEAD_CHARS = 200  # how much of the text before a match its window shows
SEARCHED_CHARS = 100  # of a value that a search repeats
WORD_CHARS = 40  # of a word of the question that is repeated
SOURCES_SHOWN = 8
RAREST_SHOWN = 2  # words of the question, and the commonest beside them
WARNING_CODE_CHARS, WARNING_CHARS = 40, 120
READ_AS_SHOWN, READ_AS_CHARS = 2, 24  # dates and names that a question was read as
BINARY_FACT_CHARS = 80  # of what is said in the place of bytes
WORTH_TRYING_BYTES = 8  # that are left for a richer way to say something

# The catalogue --------------------------------------------------------------------------------------------------------

SCHEMA_FIELDS_BYTES = 2500  # of the only stream, told with the index
SCHEMA_ENTRY_BYTES_MIN, SCHEMA_NOTE_BYTES = 700, 100
SCHEMA_OTHERS_BYTES, SCHEMA_OTHER_IDS_BYTES = 400, 300  # of a line about further sources, and of their ids in it
SCHEMA_LABEL_STEPS = (LABEL_CHARS, 40, 20)  # characters of a label, until all of it fits
SCHEMA_FIELD_STEPS = (20, 5, 0)  # fields of a stream, likewise
SCHEMA_SAID_CHARS = 120  # of what a publisher says of a stream or a field
SCHEMA_WRAPPER_BYTES = 600  # next and request_id around the document

# A page of hits as text -----------------------------------------------------------------------------------------------

HITS_FIRST, HITS_MIDDLE = 7, 10  # ranks up to which a hit gets the most room, and the middle one
# Characters of a text of the first, middle and last hits, and of names. Where a page does not fit, all get less.
HIT_MEASURES = (
    (400, 180, 60, 48),
    (300, 160, 60, 48),
    (240, 140, 48, 40),
    (160, 100, 40, 32),
    (100, 60, 32, 24),
    (64, 32, 24, 16),
)
HIT_SECOND_CHARS = 140  # that a hit must be worth before a second text of it is shown
ALIKE_LEAST_CHARS, ALIKE_NUMBERS_MOST = 40, 6  # of what is said once of hits that say the same but for numbers
ALIKE_BEGINNING_CHARS = 3
SEARCH_CURSOR_BYTES = 170  # kept free for a cursor that is yet to be asked for
SEARCH_COPIED_BYTES = 64  # of a call that only turns the page and is printed whole, beside its cursor
SEARCH_FETCHED_CHARS = 2000  # of a text that is better read whole than by windows
SEARCH_REMARK_BYTES = 600  # of a remark beside no hits
SEARCH_VERDICT_BYTES = 300  # of what is said before the hits

# A page of hits in the structured form --------------------------------------------------------------------------------

LEAN_NAME_CHARS = 40  # of labels and actors
CURRENCY_CHARS = 12
LEAN_FIRST_CHARS, LEAN_SECOND_CHARS = 400, 120  # of the excerpts of one hit
LEAN_FEW_MATCHES = 10  # and what stands beside them
# For the texts of the first hits, and of each further one.
LEAN_FULL_HITS, LEAN_FULL_BYTES, LEAN_FURTHER_BYTES = 10, 240, 100
LEAN_LEAST_BYTES = 60
# About what each takes beside its texts.
LEAN_WRAPPER_BYTES, LEAN_HIT_BYTES, LEAN_EXCERPT_BYTES, LEAN_MARK_BYTES = 900, 225, 90, 9
LEAN_AMOUNT_BYTES = len('"amount":-12345678.90,"currency":"EUR",')
LEAN_NOT_CUT_CHARS = 20  # a rest that is no longer than what would be said of it
LEAN_WORDS_MOST = 12
RESULT_TITLE_CHARS, RESULT_LEAST_TITLE_CHARS = 60, 24

# A page of records ----------------------------------------------------------------------------------------------------

QUERY_CURSOR_BYTES, QUERY_LONG_MARK_BYTES, QUERY_LONG_CALL_BYTES = 200, 700, 450
QUERY_NAME_CHARS = 64
QUERY_SHARED_BYTES, QUERY_SHARED_MOST = 60, 4  # of what all records of a talk have in common and is said once
# Of what a record says before another gets more: of a whole page, of a part, and there of fields that were asked for.
QUERY_LEAST_BYTES, QUERY_FAIR_BYTES, QUERY_ASKED_BYTES = 150, 240, 480
QUERY_REMARK_BYTES = 300  # of a remark beside no records
RECORD_ACTOR_CHARS = 48
RECORD_LONGEST_BYTES = 300  # of a handle that leaves no room for fields
RECORD_FIELDS_MOST = 200
RECORD_VALUE_STEPS = (800, 400, 240, 160, 120, 80, 60, 40, 32, 24)  # characters of a long value, until all of them fit
RECORD_FEW_STEPS = ((40, 40), (32, 32), (24, 24), (24, 12), (12, 12))  # of title and body, where not all fields fit
FITTED_CHARS_MIN = 400  # of a long value, before whole records are left for the next page: a message is mostly shorter
FITTED_ONLY_CHARS_MIN = 64  # of the only record: before fields of it are left out
FITTED_RECORD_BYTES = 400  # about what a record takes beside its data
FITTED_RELATED_STEPS = (40, 20, 10, 5, 2, 1, 0)  # related records of the only record, where even that is too long
FITTED_FIELDS_STEPS = (300, 200, 100, *FITTED_RELATED_STEPS)  # and its fields

# Numbers about records ------------------------------------------------------------------------------------------------

AGGREGATE_TAIL_BYTES = 1000  # for the remarks and calls below the numbers; calls that are longer are said in words
AGGREGATE_KEY_MOST_CHARS = 1000  # of a key in the structured form
AGGREGATE_KEY_STEPS = (200, 80, 40, 20, 8)  # characters of a key, until all groups fit
AGGREGATE_KEY_CHARS = 200  # of a key that a next step repeats

# One record, and a window of one field --------------------------------------------------------------------------------

DOCUMENT_FIELDS_BYTES, DOCUMENT_NAMES_BYTES, DOCUMENT_EXPANDED_BYTES = 1500, 1000, 1000
DOCUMENT_VALUE_CHARS = 160
WINDOW_STEPS_BYTES = 400  # the steps of a shorter window may be longer than those of the whole

# A refusal ------------------------------------------------------------------------------------------------------------

REFUSAL_MESSAGE_BYTES, REFUSAL_REMEDY_BYTES = 900, 300
REFUSAL_PROBLEMS_SHOWN, REFUSAL_NAMES_SHOWN = 3, 5
REFUSAL_NAME_CHARS = 64
REFUSAL_URI_BYTES = 600  # of an address that a fault repeats
COMPLETIONS_MAX = 100

# The owner's log ------------------------------------------------------------------------------------------------------

ACTIVITY_WORDS_CHARS = 80
