SELECT name, weight
  FROM team
