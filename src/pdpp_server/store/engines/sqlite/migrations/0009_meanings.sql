-- What records mean, where the owner has installed a model: of each record its passages, each as a vector of small numbers.
-- A record that is not here waits for it. `meaning_blocks` has the signs of these numbers, of 512 rids in one row.
create table meanings(
    rid integer primary key,
    passages blob not null
);
create table meaning_blocks(
    block integer primary key,
    lines blob not null
);

-- By which model; there is no row where there is no vector.
create table meaning_model(identity text not null);
