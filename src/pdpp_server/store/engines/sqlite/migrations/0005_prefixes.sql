-- The word index once more, with the first three letters of every word: a prefix of three letters is one entry then,
-- where all words that begin with it had to be merged before, those of hidden records too. Its rows are made anew from the
-- records (store/engines/sqlite/migrations.py), in the same transaction.
drop table words;
create virtual table words using fts5(
    s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15,
    content='', prefix='3', tokenize='porter unicode61 remove_diacritics 2'
);
insert into words(words, rank) values('secure-delete', 1);
insert into words(words, rank) values('usermerge', 2);
