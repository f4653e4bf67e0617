/** What a hit of a guard usually means, in a sentence for an operator. */
export const HINTS = {
  deactivations:
    'Many people would lose access at once: the file may be only a part of the data set, or its Status column wrong.',
  deactivations_week:
    'Together with the other imports of the last seven days many people lose access: the source may lose them bit by bit.',
  reactivations:
    'Many blocked people would get access again: the file may be an old one, or its Status column wrong.',
  reactivations_week:
    'Together with the other imports of the last seven days many blocked people get access again: look at the source.',
  changed_field:
    'Many people get another value in this column: it was exchanged with another one, sorted alone, or filled by mistake.',
  emptied_field: 'Many people lose their value in this column: the source has stopped to deliver it.',
  moved_values:
    'Values move from one person to another: a column has slid by a row, or was sorted without the others.',
  same_value:
    'Most people get one and the same value in a column in which they differed: a default, or a failed look-up.',
  same_new_name:
    'Most new people share one name: a column was filled with one value, or these are no people.',
  garbled_text:
    'Accents are lost, broken or escaped: the file was saved with another encoding than it is read with (see the option encoding), or for a web page.',
  cut_text: 'Values in this column end at one length, in the middle of a word: the source has cut them.',
  changed_keys:
    'Many external ids are new while as many are gone: the ids themselves have changed, and people would be created twice.',
  shrunken_file: 'The file has far fewer rows than the last one: the export was cut or filtered.',
  old_file: 'The last import would be undone in large part: the file may be older than the one before it.',
  same_file: 'A file with exactly these bytes was imported before, and another one since: it is an old file.',
  foreign_dataset: 'Many people belong to another data set: the option dataset may have the wrong name.',
  errors:
    'Many rows fail that did not fail in the same way last time: the format of the source may have changed.',
  after_revert: 'What a revert has undone would be done again: the source still delivers what was wrong.',
} as const;
