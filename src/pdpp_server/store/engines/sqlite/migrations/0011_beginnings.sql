-- The word index once more, without the first three letters of every word: they made it nearly twice as large, and
-- indexing half as slow again. A prefix is asked for by the words that begin with it, which `words_terms` tells; it keeps
-- nothing of its own (decision page 0046). The rows are made anew from the records (store/engines/sqlite/migrations.py),
-- in the same transaction.
drop table words;
create virtual table words using fts5(
    s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15,
    content='', tokenize='porter unicode61 remove_diacritics 2'
);
insert into words(words, rank) values('secure-delete', 1);
insert into words(words, rank) values('usermerge', 2);
insert into words(words, rank) values('automerge', 8); -- while records come in; what is left is merged at the end
create virtual table words_terms using fts5vocab(words, 'instance');
